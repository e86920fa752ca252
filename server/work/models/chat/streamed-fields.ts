import { isJsonObject, type JsonObject, setMember, writeJson } from "@/server/base/json/json";

/** Joins the unknown fields of streamed pieces to what they would be without streaming. */
export class StreamedFields {
  readonly #fields = new Map<string, unknown>();
  readonly #known: ReadonlySet<string>;
  readonly #joinsTexts: boolean;

  /** @param options.joinsTexts A text continues the one in earlier pieces; else it replaces it. */
  constructor({ known, joinsTexts }: { known: ReadonlySet<string>; joinsTexts: boolean }) {
    this.#known = known;
    this.#joinsTexts = joinsTexts;
  }

  add(piece: Readonly<Record<string, unknown>>): number {
    let length = 0;
    for (const name of Object.keys(piece)) {
      const value = piece[name];
      if (this.#known.has(name) || value === null || value === undefined) continue;
      const own = lengthOf(value);
      if (own === null) continue;
      length += own;
      this.#fields.set(name, this.#join(this.#fields.get(name), value));
    }
    return length;
  }

  text(name: string): string {
    const value = this.#fields.get(name);
    return typeof value === "string" ? value : "";
  }

  toObject(): Record<string, unknown> {
    return Object.fromEntries(this.#fields);
  }

  #join(before: unknown, value: unknown): unknown {
    if (typeof before === "string" && typeof value === "string")
      return this.#joinsTexts ? before + value : value;
    if (Array.isArray(value)) {
      const list: unknown[] = Array.isArray(before) ? before : [];
      for (const item of value) addItem(list, item);
      return list;
    }
    if (!isJsonObject(before) || !isJsonObject(value)) return value;
    merge(before, value);
    return before;
  }
}

/** The length of a value as JSON; null if it nests too deeply. */
export function lengthOf(value: unknown): number | null {
  if (typeof value === "string") return value.length;
  try {
    return writeJson(value).length;
  } catch {
    return null;
  }
}

// An item of the same type and index as the last one continues it (langchain-ai/langchain#36400).
function addItem(list: unknown[], item: unknown): void {
  const last = list.at(-1);
  if (isJsonObject(last) && isJsonObject(item) && isContinued(last, item)) merge(last, item, TEXTS_IN_PIECES);
  else list.push(item);
}

const TEXTS_IN_PIECES = new Set(["text", "summary", "data", "thinking"]);

// LiteLLM's `thinking_blocks` have no index; their signature comes last.
function isContinued(last: JsonObject, item: JsonObject): boolean {
  if (item.index === undefined && typeof item.thinking !== "string") return false;
  const isWhole = item.index === undefined && Boolean(last.signature);
  return !isWhole && last.type === item.type && last.index === item.index;
}

function merge(before: JsonObject, later: JsonObject, joined?: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(later)) {
    const known = Object.hasOwn(before, name) ? before[name] : undefined;
    if (value === null && known !== undefined) continue;
    if (isJsonObject(known) && isJsonObject(value)) merge(known, value);
    else if (joined?.has(name) && typeof known === "string" && typeof value === "string")
      setMember(before, name, known + value);
    else setMember(before, name, value);
  }
}
