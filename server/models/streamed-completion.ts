import { z } from "zod";
import { AnswerError } from "@/server/models/chat-completion";

/**
 * A chat completion that comes in pieces (server-sent events), put together to the body it would have had in one. What
 * is in the pieces is believed as little as a whole answer; only their frame is read here.
 */

const MOST_CALLS = 200;

/** Pieces that make no answer; the same server may well give a whole one. */
export class PiecesError extends AnswerError {
  override name = "PiecesError";
}

const callPiece = z.object({
  index: z.int().min(0).max(MOST_CALLS).nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.unknown().optional() }).nullish(),
});
const delta = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(callPiece).nullish(),
});
const piece = z.object({
  choices: z
    .array(
      z.object({ index: z.int().nullish(), delta: delta.nullish(), finish_reason: z.string().nullish() }),
    )
    .nullish(),
  usage: z.unknown().optional(),
});

type CallInParts = { id: string | undefined; name: string; arguments: string };

/**
 * Gathers the pieces of one answer; `onText` is told all that was said so far whenever there is more of it. Throws PiecesError
 * for what is no such stream, and for one that ends before the answer does.
 */
export async function gatherCompletion(
  pieces: AsyncIterable<unknown>,
  onText: (text: string) => void,
): Promise<object> {
  let content = "";
  let refusal = "";
  let finishReason: string | null = null;
  let usage: unknown;
  const calls: CallInParts[] = [];
  for await (const raw of pieces) {
    const parsed = piece.safeParse(raw);
    if (!parsed.success) throw new PiecesError("a piece of the answer is none of a chat completion");
    usage = parsed.data.usage ?? usage;
    const choice = parsed.data.choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) continue;
    finishReason = choice.finish_reason ?? finishReason;
    refusal += choice.delta?.refusal ?? "";
    for (const each of choice.delta?.tool_calls ?? []) addCallPiece(calls, each);
    if (choice.delta?.content) {
      content += choice.delta.content;
      onText(content);
    }
  }
  if (finishReason === null) throw new PiecesError("the answer ended before it was whole");
  const toolCalls = calls
    .filter((call) => call !== undefined)
    .map(({ id, ...called }) => ({ ...(id === undefined ? {} : { id }), function: called }));
  return {
    choices: [{ message: { content, refusal, tool_calls: toolCalls }, finish_reason: finishReason }],
    usage,
  };
}

/** Adds to the call with the piece's number; servers that give none send calls whole, or go on with the last. */
function addCallPiece(
  calls: CallInParts[],
  { index, id, function: called }: z.infer<typeof callPiece>,
): void {
  const begins =
    index === undefined || index === null ? Boolean(id ?? called?.name) : calls[index] === undefined;
  const at = index ?? (begins ? calls.length : calls.length - 1);
  if (at < 0) return;
  if (calls.length > MOST_CALLS) throw new PiecesError(`the answer asks for more than ${MOST_CALLS} calls`);
  const call = begins ? { id: undefined, name: "", arguments: "" } : calls[at];
  if (call === undefined) return;
  calls[at] = call;
  call.id ??= id ?? undefined;
  // Some servers repeat the name in every piece.
  if (call.name === "") call.name = called?.name ?? "";
  const more = called?.arguments;
  call.arguments +=
    typeof more === "string" ? more : more === undefined || more === null ? "" : JSON.stringify(more);
}
