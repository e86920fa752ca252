import { isContainer, type Json, type JsonObject } from "@/server/base/json/json";
import { readLargeJson } from "@/server/base/json/large";
import { type StepMemory, weightOf } from "@/server/guard/limits/process-memory";

/** A value as its JSON text. It is parsed when an expression names it, and kept if the run's memory allows it. */
export class StoredJson {
  /** In UTF-8. */
  readonly bytes: number;
  readonly #text: string | (() => string);
  #weight: number | undefined;
  #kept: Json | undefined;
  #last: WeakRef<Json[] | JsonObject> | undefined;
  #parsing: Promise<Json> | undefined;

  constructor(text: string | { bytes: number; compose: () => string }) {
    this.bytes = typeof text === "string" ? Buffer.byteLength(text) : text.bytes;
    this.#text = typeof text === "string" ? text : text.compose;
  }

  /** The text is composed when it is needed, so that the items are not in memory twice. */
  static list(items: readonly StoredJson[]): StoredJson {
    const bytes = items.reduce((sum, item) => sum + item.bytes + 1, 2);
    return new StoredJson({ bytes, compose: () => `[${items.map(({ text }) => text).join(",")}]` });
  }

  static object(members: readonly (readonly [name: string, value: StoredJson])[]): StoredJson {
    const named = members.map(([name, value]) => [JSON.stringify(name), value] as const);
    const bytes = named.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + value.bytes + 2, 2);
    const compose = () => `{${named.map(([name, value]) => `${name}:${value.text}`).join(",")}}`;
    return new StoredJson({ bytes, compose });
  }

  get text(): string {
    return typeof this.#text === "string" ? this.#text : this.#text();
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
