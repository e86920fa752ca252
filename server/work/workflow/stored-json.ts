import { isContainer, type Json, type JsonObject } from "@/server/base/json/json";
import { readLargeJson } from "@/server/base/json/large";
import { type StepMemory, weightOf } from "@/server/guard/limits/process-memory";

/** A value as its JSON text. It is parsed when an expression names it, and kept if the run's memory allows it. */
export class StoredJson {
  readonly text: string;
  #weight: number | undefined;
  #kept: Json | undefined;
  /** The value, as long as any step works with it. */
  #last: WeakRef<Json[] | JsonObject> | undefined;
  #parsing: Promise<Json> | undefined;

  constructor(text: string) {
    this.text = text;
  }

  async read(memory?: StepMemory): Promise<Json> {
    this.#weight ??= weightOf(this.text);
    await memory?.hold(this.#weight);
    const known = this.#kept ?? this.#last?.deref();
    if (known !== undefined) return known;
    this.#parsing ??= this.#parse(memory, this.#weight);
    return this.#parsing;
  }

  async #parse(memory: StepMemory | undefined, weight: number): Promise<Json> {
    try {
      const value = await readLargeJson(this.text);
      if (memory?.run.keep(weight)) this.#kept = value;
      else if (isContainer(value)) this.#last = new WeakRef(value);
      return value;
    } finally {
      this.#parsing = undefined;
    }
  }
}
