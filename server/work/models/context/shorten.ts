import { cutBytes } from "@/server/guard/secrets/stored-output";
import type { ModelMessage, Shortening } from "@/server/work/models/port";

/** The sizes to which outputs are cut, in bytes: first all old ones to the first size, then to the second. */
export const KEPT_BYTES = [1_000, 100] as const;
const MARK_BYTES = 100;

/** The messages before this index may be shortened: the last two iterations are not. */
export function endOfOld(messages: readonly ModelMessage[]): number {
  const replies = messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []));
  return replies.at(-2) ?? 0;
}

/** The size to which the output at an index of the messages is cut; null if it is sent as it is. */
export function keptOf(index: number, shortened: readonly Shortening[]): number | null {
  const kept = shortened.filter(({ before }) => index < before).map(({ keep }) => keep);
  return kept.length === 0 ? null : Math.min(...kept);
}

/**
 * The beginning of an output, with a mark; null if it is short enough. @param bytes The size of the output, of
 * which `text` may be only the start.
 */
export function shortenText(text: string, keep: number, bytes = Buffer.byteLength(text)): string | null {
  if (bytes <= keep + MARK_BYTES) return null;
  const start = cutBytes(text, keep);
  return `${start} [shortened: ${Buffer.byteLength(start)} of ${bytes} bytes]`;
}

/** Returns the message, with its output shortened if it is listed. */
export function shortenMessage(
  message: ModelMessage,
  index: number,
  shortened: readonly Shortening[],
): ModelMessage {
  const keep = message.role === "tool" ? keptOf(index, shortened) : null;
  const content = keep === null ? null : shortenText(message.content, keep);
  return content === null ? message : { ...message, content };
}

/** The messages with their shortened outputs, and how much that saves. */
export function shortenMessages(messages: readonly ModelMessage[], shortened: readonly Shortening[]) {
  let outputs = 0;
  let bytesBefore = 0;
  let bytesAfter = 0;
  const sent = messages.map((message, index) => {
    const short = shortenMessage(message, index, shortened);
    if (short === message) return message;
    outputs += 1;
    bytesBefore += Buffer.byteLength(message.content);
    bytesAfter += Buffer.byteLength(short.content);
    return short;
  });
  return { messages: sent, outputs, bytesBefore, bytesAfter };
}
