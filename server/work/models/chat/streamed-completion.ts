import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isJsonObject, tryParseJson, writeJson } from "@/server/base/json/json";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { StreamedReply } from "@/server/work/models/calls/model-interface";
import { brokenPieces, failedChoice, replyTooLarge } from "@/server/work/models/errors/replies";
import {
  MAX_RECORDED_CALLS,
  MAX_REPLY_LENGTH,
  type Prompt,
  type ReceivedOutput,
} from "@/server/work/models/port";
import { countUsage } from "@/server/work/models/tokens/tokens";
import { readReasoning } from "./chat-completion";
import { CALL_FIELDS, FUNCTION_FIELDS, MESSAGE_FIELDS } from "./chat-state";
import { readUsage } from "./chat-usage";
import { StreamedParts } from "./content-parts";
import { GrowingArguments } from "./growing-arguments";
import { StreamedFields } from "./streamed-fields";
import { GrowingAnswer, splitThinking } from "./thinking";

/** Gives the body that the completion would have without streaming. Only the frame of pieces is read here. */

const MAX_CALL_INDEX = 65_535;

// Other fields are kept as they come (StreamedFields).
const functionPiece = z.looseObject({ name: z.string().nullish(), arguments: z.unknown().optional() });
const callPiece = z.looseObject({
  index: z.int().min(0).max(MAX_CALL_INDEX).nullish(),
  id: z.string().nullish(),
  function: functionPiece.nullish(),
});
const delta = z.looseObject({
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(callPiece).nullish(),
  function_call: functionPiece.nullish(),
});
const piece = z.object({
  choices: z
    .array(
      z.object({
        index: z.int().nullish(),
        delta: delta.nullish(),
        message: z.unknown().optional(),
        finish_reason: z.string().nullish(),
        native_finish_reason: z.string().nullish().catch(null),
        error: z.unknown().optional(),
        usage: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
});

type CallInParts = {
  at: number;
  id: string;
  name: string;
  arguments: GrowingArguments;
  isFurther: boolean;
  fields: StreamedFields;
  functionFields: StreamedFields;
};

const isComplete = (text: string) => text.trimEnd().endsWith("}") && isJsonObject(tryParseJson(text));

// Ollama sends each call whole and all with one index (BerriAI/litellm#33678). Other servers repeat id or
// name in every piece, or give each piece its own id.
function beginsAnother(
  known: CallInParts,
  { id, name, text }: { id: string; name: string; text: string },
): boolean {
  const differs = (one: string, other: string) => one !== "" && other !== "" && one !== other;
  if (differs(known.name, name)) return true;
  if (differs(known.id, id)) return name !== "" || (text !== "" && known.arguments.isComplete);
  // A call that begins with {} and goes on is one call, which is repaired later.
  const mayBegin =
    (id !== "" || name !== "") && text.trimStart().startsWith("{") && known.arguments.text !== "{}";
  return mayBegin && known.arguments.isComplete;
}

// vLLM may send the complete arguments again (vllm-project/vllm#51697).
function repeatsArguments(
  known: CallInParts,
  { id, name, text }: { id: string; name: string; text: string },
): boolean {
  const isSameCall = id === "" ? name === "" : id === known.id;
  return (
    isSameCall &&
    // A small piece is no repetition; joined texts are searched only for a large one, which keeps joining linear.
    text.length * 2 >= known.arguments.text.length &&
    isComplete(text) &&
    known.arguments.isComplete &&
    isDeepStrictEqual(tryParseJson(text), tryParseJson(known.arguments.text))
  );
}

// Without indexes, a piece may repeat the call's id, and the name may come after the arguments
// (vercel/ai#15879), or again with the rest of them (agentscope-ai/agentscope-java#1223).
function namesAgain(
  known: CallInParts,
  { id, name, text }: { id: string; name: string; text: string },
): boolean {
  if (id !== "") return id === known.id;
  const isRest = known.name === name && !known.arguments.isComplete && !text.trimStart().startsWith("{");
  return name !== "" && (known.name === "" || (isRest && known.arguments.text !== ""));
}

export class StreamedCompletion implements StreamedReply {
  readonly #onText: (text: string) => void;
  #content = "";
  #parts: StreamedParts | null = null;
  #refusal = "";
  readonly #fields = new StreamedFields({ known: MESSAGE_FIELDS, joinsTexts: true });
  #length = 0;
  #finishReason: string | null = null;
  #nativeReason: string | null = null;
  #hasChoice = false;
  #hasMessage = false;
  #usage: unknown;
  readonly #answer = new GrowingAnswer();
  readonly #calls: CallInParts[] = [];
  readonly #open = new Map<number, CallInParts>();
  #further = 0;
  #lastCall = -1;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  add(raw: unknown): void {
    const parsed = piece.safeParse(raw);
    if (!parsed.success) throw brokenPieces("a chunk of the answer is not part of a chat completion");
    this.#keepUsage(parsed.data.usage);
    const choice = parsed.data.choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return;
    this.#hasChoice = true;
    // Kimi's is within the choice (AstrBotDevs/AstrBot#6614).
    this.#keepUsage(choice.usage);
    if (choice.finish_reason === "error") throw failedChoice(choice);
    // Some servers send an empty one with other pieces (ollama/ollama#4357, sgl-project/sglang#3912).
    this.#finishReason = choice.finish_reason || this.#finishReason;
    this.#nativeReason = choice.native_finish_reason || this.#nativeReason;
    this.#hasMessage ||= isJsonObject(choice.message);
    if (!choice.delta) return;
    const { content, refusal, tool_calls, function_call } = choice.delta;
    this.#refusal += this.#counted(refusal ?? "");
    this.#count(this.#fields.add(choice.delta));
    for (const each of tool_calls ?? []) this.#addCall(each);
    if (function_call && !tool_calls?.length) this.#addCall({ index: 0, function: function_call });
    const isText = typeof content === "string" && this.#parts === null;
    const text = isText ? this.#counted(content) : this.#addParts(content);
    if (text) {
      this.#content += text;
      const answer = this.#answer.add(text);
      if (answer !== "") this.#onText(answer);
    }
  }

  // Some servers send zeros in every piece, also after the counts (BerriAI/litellm#17136).
  #keepUsage(usage: unknown): void {
    if (
      usage !== undefined &&
      usage !== null &&
      (readUsage(usage) !== null || readUsage(this.#usage) === null)
    )
      this.#usage = usage;
  }

  #addParts(content: string | unknown[] | null | undefined): string {
    if (!content || content.length === 0) return "";
    if (this.#parts === null) {
      this.#parts = new StreamedParts();
      if (this.#content !== "") this.#parts.add([{ type: "text", text: this.#content }]);
    }
    const added = this.#parts.add(typeof content === "string" ? [{ type: "text", text: content }] : content);
    this.#count(added.length);
    return added.text;
  }

  get furtherCalls(): number {
    return this.#further;
  }

  get #isEmpty(): boolean {
    return this.#length === 0 && this.#calls.length === 0;
  }

  async received(request: Prompt): Promise<ReceivedOutput | null> {
    const reported = readUsage(this.#usage);
    if (this.#isEmpty && reported === null) return null;
    const toolCalls = this.#calls.map(({ id, name, arguments: given }) => ({
      id,
      name,
      arguments: given.text,
    }));
    const { content, reasoning } = splitThinking(this.#content);
    const shown = readReasoning((name) => this.#fields.text(name)) + (this.#parts?.reasoning ?? "");
    const output = { content: content || this.#refusal, reasoning: shown + reasoning, toolCalls };
    const usage = reported ?? (await countUsage(request, output));
    return { content: replaceNul(output.content), usage };
  }

  toBody(): object {
    if (!this.#hasChoice && readUsage(this.#usage) !== null) return { choices: [], usage: this.#usage };
    if (this.#finishReason === null) throw brokenPieces("the answer ended before it was complete");
    // Some servers end with the complete message, others send only that.
    if (this.#hasMessage && this.#isEmpty) throw brokenPieces("the answer has a message, but no deltas");
    const toolCalls = [...this.#calls]
      .sort((a, b) => a.at - b.at)
      .map(({ id, name, arguments: given, fields, functionFields }) => ({
        ...fields.toObject(),
        id,
        function: { ...functionFields.toObject(), name, arguments: given.text },
      }));
    const message = {
      ...this.#fields.toObject(),
      content: this.#parts?.toList() ?? this.#content,
      refusal: this.#refusal,
      tool_calls: toolCalls,
    };
    const reasons = { finish_reason: this.#finishReason, native_finish_reason: this.#nativeReason };
    return { choices: [{ message, ...reasons }], usage: this.#usage };
  }

  #counted(text: string): string {
    this.#count(text.length);
    return text;
  }

  #count(length: number): void {
    this.#length += length;
    if (this.#length > MAX_REPLY_LENGTH) {
      throw replyTooLarge("The answer", MAX_REPLY_LENGTH);
    }
  }

  // Servers without indexes send complete calls, or continue the last one.
  #addCall(piece: z.infer<typeof callPiece>): void {
    const { index } = piece;
    const id = piece.id ?? "";
    const name = piece.function?.name ?? "";
    const given = piece.function?.arguments ?? "";
    const text = typeof given === "string" ? given : writeJson(given);
    const known =
      this.#open.get(index ?? this.#lastCall) ?? (id + name === "" ? this.#unfinished : undefined);
    if (known && repeatsArguments(known, { id, name, text })) {
      this.#count(text.length);
      return;
    }
    const isNamed = (index === undefined || index === null) && (id !== "" || name !== "");
    const isOther = isNamed && !(known && namesAgain(known, { id, name, text }));
    const isNew = known === undefined || isOther || beginsAnother(known, { id, name, text });
    const call = isNew ? this.#begin(index ?? this.#lastCall + 1, { id, name, text }) : known;
    if (!isNew) this.#continue(call, { id, name, text });
    if (call.isFurther) return;
    this.#count(call.fields.add(piece) + call.functionFields.add(piece.function ?? {}));
  }

  // Nebius and Cerebras count the index on within a call (pipecat-ai/pipecat#4688, dirac-run/dirac#215).
  get #unfinished(): CallInParts | undefined {
    const last = this.#open.get(this.#lastCall);
    return last?.arguments.isComplete ? undefined : last;
  }

  #begin(at: number, { id, name, text }: { id: string; name: string; text: string }): CallInParts {
    if (at > MAX_CALL_INDEX) throw brokenPieces("the answer contains too many calls");
    this.#lastCall = Math.max(this.#lastCall, at);
    const isFurther = this.#calls.length >= MAX_RECORDED_CALLS;
    const call = {
      at,
      id: this.#counted(id),
      name: this.#counted(name),
      arguments: new GrowingArguments(),
      isFurther,
      fields: new StreamedFields({ known: CALL_FIELDS, joinsTexts: false }),
      functionFields: new StreamedFields({ known: FUNCTION_FIELDS, joinsTexts: false }),
    };
    this.#open.set(at, call);
    if (isFurther) this.#further += 1;
    else {
      this.#calls.push(call);
      call.arguments.add(this.#counted(text));
    }
    return call;
  }

  #continue(call: CallInParts, { id, name, text }: { id: string; name: string; text: string }): void {
    if (call.isFurther) return;
    if (call.id === "") call.id = this.#counted(id);
    // Some servers repeat the name in every piece.
    if (call.name === "") call.name = this.#counted(name);
    call.arguments.add(this.#counted(text));
  }
}
