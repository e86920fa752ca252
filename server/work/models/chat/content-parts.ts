import { isJsonObject, type JsonObject } from "@/server/base/json/json";

/**
 * Content that is a list of parts instead of a text. Mistral's reasoning is such a part:
 * `{"type": "thinking", "thinking": [{"type": "text", "text": "…"}]}`
 * (https://docs.mistral.ai/capabilities/reasoning, microsoft/agent-framework#6978).
 */

/** More parts are ignored. */
const MAX_CONTENT_PARTS = 1000;

type Content = { content: string; reasoning: string };

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The texts of one part. */
function readPart(part: unknown): Content {
  if (!isJsonObject(part)) return { content: "", reasoning: "" };
  const { thinking, text } = part;
  const thoughts = Array.isArray(thinking) ? thinking.slice(0, MAX_CONTENT_PARTS) : [thinking];
  const reasoning = thoughts.map((each) => textOf(isJsonObject(each) ? each.text : each)).join("");
  return { content: textOf(text), reasoning };
}

/** The answer and the reasoning in a content of any form. */
export function readContent(content: unknown): Content {
  if (!Array.isArray(content)) return { content: textOf(content), reasoning: "" };
  const parts = content.slice(0, MAX_CONTENT_PARTS).map(readPart);
  const join = (name: keyof Content) => parts.map((part) => part[name]).join("");
  return { content: join("content"), reasoning: join("reasoning") };
}

/** Returns true for a list that says more than its text. */
export const isMoreThanText = (content: unknown): content is unknown[] =>
  Array.isArray(content) && content.some((part) => isJsonObject(part) && part.type !== "text");

/** Joins streamed parts to those of a whole message. */
export class StreamedParts {
  readonly #parts: JsonObject[] = [];

  /** The parts; null if none came. */
  toList(): JsonObject[] | null {
    return this.#parts.length === 0 ? null : this.#parts;
  }

  get reasoning(): string {
    return readContent(this.#parts).reasoning;
  }

  /** Adds the parts of a piece. Returns their texts. */
  add(parts: readonly unknown[]): Content {
    const read = { content: "", reasoning: "" };
    for (const part of parts) {
      if (!isJsonObject(part)) continue;
      const last = this.#parts.at(-1);
      if (last?.type === part.type && last !== undefined) join(last, part);
      else if (this.#parts.length < MAX_CONTENT_PARTS) this.#parts.push({ ...part });
      else continue;
      const { content, reasoning } = readPart(part);
      read.content += content;
      read.reasoning += reasoning;
    }
    return read;
  }
}

/** Continues a part with one of the same type: texts grow, other members are replaced. */
function join(last: JsonObject, part: JsonObject): void {
  const { text, thinking, ...others } = part;
  Object.assign(last, others);
  if (typeof text === "string") last.text = textOf(last.text) + text;
  if (typeof thinking === "string") last.thinking = textOf(last.thinking) + thinking;
  if (!Array.isArray(thinking)) return;
  const joined = Array.isArray(last.thinking) ? [...last.thinking] : [];
  for (const each of thinking) {
    const before = joined.at(-1);
    if (isJsonObject(before) && isJsonObject(each) && before.type === each.type)
      joined[joined.length - 1] = { ...before, ...each, text: textOf(before.text) + textOf(each.text) };
    else joined.push(each);
  }
  last.thinking = joined;
}
