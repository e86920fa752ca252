import { isJsonObject, type Json, type JsonObject, setMember } from "@/server/base/json/json";
import { lengthOf } from "./streamed-fields";

/**
 * Content may be a list of parts. Mistral's reasoning is one: `{"type": "thinking", "thinking": [{"type": "text",
 * "text": "…"}]}` (https://docs.mistral.ai/capabilities/reasoning, microsoft/agent-framework#6978).
 */

const MAX_CONTENT_PARTS = 1000;

type Content = { content: string; reasoning: string };

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function readPart(part: unknown): Content {
  if (!isJsonObject(part)) return { content: "", reasoning: "" };
  const { thinking, text } = part;
  const thoughts = Array.isArray(thinking) ? thinking.slice(0, MAX_CONTENT_PARTS) : [thinking];
  const reasoning = thoughts.map((each) => textOf(isJsonObject(each) ? each.text : each)).join("");
  return { content: textOf(text), reasoning };
}

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
  readonly #parts: Json[] = [];

  toList(): Json[] | null {
    return this.#parts.length === 0 ? null : this.#parts;
  }

  get reasoning(): string {
    return readContent(this.#parts).reasoning;
  }

  /** Takes over the parts. Returns their text, and the length of all. */
  add(parts: readonly unknown[]): { text: string; length: number } {
    const added = { text: "", length: 0 };
    for (const part of parts) {
      const length = lengthOf(part);
      if (length === null || !isJsonObject(part)) continue;
      added.length += length;
      added.text += readPart(part).content;
      addPart(this.#parts, part);
    }
    return added;
  }
}

function addPart(list: Json[], part: JsonObject): void {
  const last = list.at(-1);
  if (!isJsonObject(last) || last.type !== part.type) {
    if (list.length < MAX_CONTENT_PARTS) list.push(part);
    return;
  }
  for (const [name, value] of Object.entries(part)) {
    const known = Object.hasOwn(last, name) ? last[name] : undefined;
    if (name === "text" || name === "thinking") continueMember(last, { name, known, value });
    else setMember(last, name, value);
  }
}

function continueMember(
  part: JsonObject,
  { name, known, value }: { name: string; known: Json | undefined; value: Json },
): void {
  if (typeof known === "string" && typeof value === "string") part[name] = known + value;
  else if (Array.isArray(known) && Array.isArray(value)) {
    for (const each of value) if (isJsonObject(each)) addPart(known, each);
  } else part[name] = value;
}
