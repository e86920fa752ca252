import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { serveFetch } from "../fetch-server";
import { cut, opaque } from "./strict-chat";

/**
 * As strict as https://platform.claude.com/docs/en/api/messages (parameters), …/build-with-claude/streaming
 * (events), …/extended-thinking (returned blocks), …/prompt-caching (marks), …/api/errors. Error messages:
 * deepset-ai/haystack-core-integrations#2146 (a call without its thinking), anthropics/claude-code#8210 (a call
 * without its result), mastra-ai/mastra#7507 (a forced tool with thinking).
 */

const cacheControl = z.strictObject({ type: z.literal("ephemeral") }).optional();
const words = z.string().regex(/\S/, "text content blocks must contain non-whitespace text");
const block = z.union([
  z.strictObject({ type: z.literal("text"), text: words, cache_control: cacheControl }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.strictObject({
    type: z.literal("tool_use"),
    id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
    input: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
    content: z.string(),
    cache_control: cacheControl,
  }),
]);
const thinking = z.union([
  z.strictObject({ type: z.literal("disabled") }),
  z.strictObject({ type: z.literal("adaptive"), display: z.enum(["summarized", "omitted"]).optional() }),
  z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024) }),
]);
const requestBody = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(block).min(1) }))
    .min(1),
  system: z
    .array(z.strictObject({ type: z.literal("text"), text: words, cache_control: cacheControl }))
    .optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: z.string(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        cache_control: cacheControl,
      }),
    )
    .optional(),
  tool_choice: z
    .union([
      z.strictObject({ type: z.literal("auto"), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal("any"), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal("none") }),
      z.strictObject({ type: z.literal("tool"), name: z.string() }),
    ])
    .optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().optional(),
  thinking: thinking.optional(),
  output_config: z.strictObject({ effort: z.enum(["low", "medium", "high", "xhigh", "max"]) }).optional(),
  stream: z.boolean().optional(),
});
type MessageRequest = z.infer<typeof requestBody>;
type Block = Record<string, unknown> & { type: string };

/** `code` and `param`: gateways add them. */
type ErrorFields = { type: string; message: string; code?: string; param?: string };

/** The answer to one call: blocks of a reply and their end, an error, or a broken stream. */
export type MessageLine = {
  blocks?: Block[];
  stop?: string;
  explanation?: string;
  error?: ErrorFields & { status: number; headers?: Record<string, string> };
  failed?: ErrorFields;
  isCut?: boolean;
};

export const thinkingBlock = (text: string): Block => ({
  type: "thinking",
  thinking: text,
  signature: opaque(),
});
export const redactedBlock = (): Block => ({ type: "redacted_thinking", data: opaque() });
export const textBlock = (text: string): Block => ({ type: "text", text });
export const callBlock = (name: string, input: object): Block => ({
  type: "tool_use",
  id: `toolu_${randomBytes(12).toString("hex")}`,
  name,
  input,
});

/** Thinks and calls `calculate` in each of these turns, then answers. */
export const thinksFor =
  (turns: number) =>
  (turn: number): MessageLine =>
    turn < turns
      ? {
          blocks: [
            thinkingBlock(`I have to add. Step ${turn} 🌍`),
            redactedBlock(),
            callBlock("calculate", { expression: `${turn} + 1` }),
            callBlock("calculate", { expression: `${turn} + 2` }),
          ],
        }
      : { blocks: [thinkingBlock(""), textBlock(`Done after ${turns}.`)] };

type StrictMessages = {
  url: string;
  answered: number;
  rejected: string[];
  requests: MessageRequest[];
  keys: Set<string>;
  sent: string[];
  close(): Promise<void>;
};

const isThinking = ({ type }: { type: string }) => type === "thinking" || type === "redacted_thinking";
const firstUse = (blocks: readonly Block[]) => String(blocks.find(({ type }) => type === "tool_use")?.id);

/**
 * Serves the API. `reply` gets the number of replies that came back, from 0. `rejects`: unsupported parameters.
 * `beforeReply` may delay a reply to a correctly returned conversation. `hasForgotten`: no signature is valid any more.
 */
export async function startStrictMessages(
  reply: (turn: number, request: MessageRequest) => MessageLine,
  {
    rejects = [],
    beforeReply,
    hasForgotten = () => false,
  }: {
    rejects?: readonly string[];
    beforeReply?: (turn: number) => Promise<unknown>;
    hasForgotten?: () => boolean;
  } = {},
): Promise<StrictMessages> {
  const replies = new Map<string, Block[]>();

  function check({ messages, thinking: mode }: MessageRequest): string | null {
    const isInTurn = messages.at(-1)?.content.some((each) => each.type === "tool_result");
    for (const [index, { role, content }] of messages.entries()) {
      if (role === messages[index - 1]?.role)
        return `messages.${index}: roles must alternate between "user" and "assistant"`;
      if (index === 0 && role !== "user") return 'messages: first message must use the "user" role';
      const results = content.flatMap((each) => (each.type === "tool_result" ? [each.tool_use_id] : []));
      const uses = (messages[index - 1]?.content ?? []).flatMap((each) =>
        each.type === "tool_use" ? [each.id] : [],
      );
      const missing = uses.filter((id) => !results.includes(id));
      if (missing.length > 0)
        return `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}`;
      if (results.some((id) => !uses.includes(id)))
        return `messages.${index}: unexpected \`tool_use_id\` found`;
      const end = content.findLastIndex((each) => each.type === "tool_result");
      if (content.slice(0, Math.max(0, end)).some((each) => each.type !== "tool_result"))
        return `messages.${index}: tool_result blocks must come first`;
      if (role !== "assistant") continue;
      const sent = replies.get(firstUse(content));
      if (sent === undefined) continue;
      if (hasForgotten() && content.some(isThinking))
        return `messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block`;
      if (hasForgotten() && !(mode?.type === "enabled" && isInTurn)) continue;
      if (sent.some(isThinking) && !content.some(isThinking))
        return `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${content[0]?.type}\`.`;
      const back = content.filter((each) => sent.some((one) => isDeepStrictEqual(one, each)));
      const expected = sent.filter(
        (one) => isThinking(one) || back.some((each) => isDeepStrictEqual(one, each)),
      );
      if (!isDeepStrictEqual(back, expected))
        return `messages.${index}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified.`;
    }
    return null;
  }

  const errorOf = (error: ErrorFields) => ({
    type: "error",
    error,
  });
  const reject = (message: string) =>
    Response.json(errorOf({ type: "invalid_request_error", message }), { status: 400 });

  const { origin, close } = await serveFetch(async (incoming) => {
    const path = new URL(incoming.url).pathname;
    if (path !== "/v1/messages" || incoming.method !== "POST")
      return Response.json(errorOf({ type: "not_found_error", message: "Not found" }), { status: 404 });
    if (!incoming.headers.get("x-api-key") || incoming.headers.get("authorization"))
      return Response.json(errorOf({ type: "authentication_error", message: "x-api-key is required" }), {
        status: 401,
      });
    server.keys.add(incoming.headers.get("x-api-key") ?? "");
    if (!incoming.headers.get("anthropic-version")) return reject("anthropic-version: header is required");
    const parsed = requestBody.safeParse(await incoming.json());
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
      const at = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].join(".");
      return reject(
        unknown === undefined ? `${at}: ${issue?.message}` : `${at}: Extra inputs are not permitted`,
      );
    }
    const request = parsed.data;
    server.requests.push(request);
    const { thinking: mode, tool_choice: choice, tools = [], stream } = request;
    if (rejects.includes("effort") && request.output_config)
      return reject("This model does not support the effort parameter.");
    if (rejects.includes("adaptive") && mode?.type === "adaptive")
      return reject("adaptive thinking is not supported on this model");
    if (rejects.includes("stream") && stream) return reject("stream is not supported");
    if (mode?.type === "enabled" && (choice?.type === "any" || choice?.type === "tool"))
      return reject("Thinking may not be enabled when tool_choice forces tool use.");
    if (mode !== undefined && mode.type !== "disabled" && (request.temperature ?? 1) !== 1)
      return reject("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.");
    if (
      tools.length === 0 &&
      request.messages.some(({ content }) => content.some(({ type }) => type === "tool_use"))
    )
      return reject("Requests which include `tool_use` or `tool_result` blocks must define tools");
    if (new Set(tools.map(({ name }) => name)).size < tools.length)
      return reject("tools: Tool names must be unique.");
    // anthropics/claude-code#5319
    const combined = tools.findIndex(({ input_schema: schema }) =>
      ["oneOf", "allOf", "anyOf"].some((keyword) => keyword in schema),
    );
    if (combined >= 0)
      return reject(
        `tools.${combined}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
      );
    if (JSON.stringify(request).split('"cache_control"').length > 5)
      return reject("A maximum of 4 blocks with cache_control may be provided.");
    const problem = check(request);
    if (problem !== null) {
      server.rejected.push(problem);
      return reject(problem);
    }
    const turn = request.messages.filter(({ role }) => role === "assistant").length;
    await beforeReply?.(turn);
    const { blocks = [], error, failed, isCut = false, explanation, ...line } = reply(turn, request);
    if (error !== undefined) {
      const { status, headers = {}, ...body } = error;
      return Response.json(errorOf(body), { status, headers });
    }
    const isCall = blocks.some(({ type }) => type === "tool_use");
    replies.set(firstUse(blocks), blocks);
    server.answered += 1;
    server.sent.push(JSON.stringify(blocks));
    const stop = {
      stop_reason: line.stop ?? (isCall ? "tool_use" : "end_turn"),
      stop_sequence: null,
      ...(explanation !== undefined && { stop_details: { type: "refusal", category: null, explanation } }),
    };
    const input = { input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60 };
    const message = {
      id: `msg_${server.answered}`,
      type: "message",
      role: "assistant",
      model: request.model,
    };
    if (stream !== true) {
      if (failed !== undefined) return Response.json(errorOf(failed), { status: 200 });
      return Response.json({ ...message, content: blocks, ...stop, usage: { ...input, output_tokens: 50 } });
    }
    const events: { type: string }[] = [
      {
        type: "message_start",
        ...{ message: { ...message, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } } },
      },
      { type: "ping" },
      ...blocks.flatMap(eventsOf),
      ...(isCut
        ? []
        : failed !== undefined
          ? [errorOf(failed)]
          : [
              { type: "message_delta", ...{ delta: stop, usage: { output_tokens: 50 } } },
              { type: "message_stop" },
            ]),
    ];
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  });
  const server: StrictMessages = {
    url: origin,
    answered: 0,
    rejected: [],
    requests: [],
    keys: new Set(),
    sent: [],
    close,
  };
  return server;
}

function eventsOf(block: Block, index: number): { type: string }[] {
  const delta = (value: object) => ({ type: "content_block_delta", ...{ index, delta: value } });
  const parts = (whole: unknown, toDelta: (part: string) => object) =>
    String(whole) === "" ? [] : cut(String(whole)).map((part) => delta(toDelta(part)));
  const [started, deltas] =
    block.type === "text"
      ? [{ type: "text", text: "" }, parts(block.text, (text) => ({ type: "text_delta", text }))]
      : block.type === "tool_use"
        ? [
            { ...block, input: {} },
            parts(JSON.stringify(block.input), (partial_json) => ({
              type: "input_json_delta",
              partial_json,
            })),
          ]
        : block.type === "thinking"
          ? [
              { type: "thinking", thinking: "", signature: "" },
              [
                ...parts(block.thinking, (value) => ({ type: "thinking_delta", thinking: value })),
                delta({ type: "signature_delta", signature: block.signature }),
              ],
            ]
          : [block, []];
  return [
    { type: "content_block_start", ...{ index, content_block: started } },
    ...deltas,
    { type: "content_block_stop", ...{ index } },
  ];
}
