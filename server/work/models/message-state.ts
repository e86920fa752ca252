import { z } from "zod";
import { isJsonObject, tryParseMarked, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { MAX_STATE_BYTES, type ModelMessage, type ProviderState } from "@/server/work/models/port";

/** Blocks go back unchanged, because thinking is signed. */

const block = z.looseObject({ type: z.string() });
export type Block = z.infer<typeof block>;

const messageState = z.object({
  /** Provider, interface, address and model. */
  origin: z.string(),
  blocks: z.array(block),
});

const PLAIN = new Set(["text", "tool_use"]);

/** The state of a message with these blocks; null if text and calls are all it has, or if they are too large. */
export function readMessageState(blocks: readonly Block[], origin: string): ProviderState | null {
  if (blocks.every(({ type }) => PLAIN.has(type))) return null;
  try {
    const text = writeJson({ origin, blocks });
    return Buffer.byteLength(text) > MAX_STATE_BYTES ? null : text;
  } catch {
    // They nest too deeply.
    return null;
  }
}

const parseState = perOwner((message: ModelMessage) => {
  if (message.role !== "assistant" || !message.state) return null;
  return messageState.safeParse(tryParseMarked(message.state)).data ?? null;
});

/** The blocks that a message had when it came from `origin`; null if it came from elsewhere, or had only text and calls. */
export function openMessageState(message: ModelMessage, origin: string): readonly Block[] | null {
  const state = parseState(message);
  return state !== null && state.origin === origin ? state.blocks : null;
}

const isThinking = ({ type }: Block) => type === "thinking" || type === "redacted_thinking";

/** Returns true if the last turn goes on with results of calls, but its first reply has no thinking of `origin`. */
export function isThoughtless(messages: readonly ModelMessage[], origin: string): boolean {
  if (messages.at(-1)?.role !== "tool") return false;
  const begin = messages.findLastIndex(({ role }) => role === "user");
  const first = messages.slice(begin + 1).find(({ role }) => role === "assistant");
  return first !== undefined && !openMessageState(first, origin)?.some(isThinking);
}

/** Returns true if the parameter `thinking` turns it on. */
export const thinks = (parameter: unknown): boolean =>
  isJsonObject(parameter) && parameter.type !== "disabled";
