import { z } from "zod";
import { tryParseMarked, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { MAX_STATE_BYTES, type ModelMessage, type ProviderState } from "@/server/work/models/port";

/** All items go back: reasoning without its neighbors is rejected, and they without it. */

const item = z.looseObject({ type: z.string() });
export type Item = z.infer<typeof item>;

const responseState = z.object({
  /** Provider, interface, address and model. */
  origin: z.string(),
  items: z.array(item),
});

/** The state of a response with these items; null if there are none, or too large ones. */
export function readResponseState(items: readonly unknown[], origin: string): ProviderState | null {
  const parsed = z.array(item).safeParse(items);
  if (!parsed.success || parsed.data.length === 0) return null;
  try {
    const text = writeJson({ origin, items: parsed.data });
    return Buffer.byteLength(text) > MAX_STATE_BYTES ? null : text;
  } catch {
    // It nests too deeply.
    return null;
  }
}

const parseState = perOwner((message: ModelMessage) => {
  if (message.role !== "assistant" || !message.state) return null;
  return responseState.safeParse(tryParseMarked(message.state)).data ?? null;
});

/** The items that a message had when it came from `origin`; null if it came from elsewhere. */
export function openResponseState(message: ModelMessage, origin: string): readonly Item[] | null {
  const state = parseState(message);
  return state !== null && state.origin === origin ? state.items : null;
}
