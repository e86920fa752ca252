import { z } from "zod";
import { tryParseMarked, writeJson } from "@/server/base/json/json";
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
