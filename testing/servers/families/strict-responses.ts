import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isJsonObject, tryParseJson } from "@/server/base/json/json";
import { safeArguments, safeName } from "@/server/work/models/calls/sent-calls";
import { serveFetch } from "../fetch-server";
import { longDescription, openaiToolsProblem } from "./schema-rules";
import { cut, opaque } from "./strict-chat";

/**
 * As strict as https://platform.openai.com/docs/api-reference/responses/create (parameters), …/responses-streaming
 * (events), https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items, without stored responses.
 * Error messages: cline/cline#12242 (a call without its reasoning), openai/openai-agents-js#546 (an item that is
 * not stored), home-assistant/core#160212 (the summary), OpenHands/software-agent-sdk#1208 (encrypted reasoning).
 */

const text = z.object({ type: z.enum(["input_text", "output_text"]), text: z.string() }).loose();
const inputItem = z.union([
  z.strictObject({
    type: z.literal("message").optional(),
    role: z.enum(["user", "assistant", "system", "developer"]),
    content: z.union([z.string(), z.array(text)]),
  }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: z.string(), output: z.string() }),
  z.strictObject({
    type: z.literal("message"),
    role: z.literal("assistant"),
    phase: z.string().optional(),
    content: z.array(text),
  }),
  z.looseObject({ type: z.literal("reasoning"), encrypted_content: z.string() }),
  z.looseObject({
    type: z.literal("function_call"),
    call_id: z.string(),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    arguments: z.string().refine((json) => isJsonObject(tryParseJson(json)), "Expected a JSON object"),
  }),
]);
const functionTool = z.strictObject({
  type: z.literal("function"),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: z.string(),
  parameters: z.looseObject({ type: z.literal("object") }),
  strict: z.boolean(),
});
const format = z.strictObject({
  type: z.literal("json_schema"),
  name: z.string(),
  schema: z.looseObject({}),
  strict: z.boolean(),
});
const requestBody = z.strictObject({
  model: z.string(),
  input: z.array(inputItem),
  instructions: z.string().optional(),
  store: z.literal(false),
  include: z.array(z.literal("reasoning.encrypted_content")).optional(),
  reasoning: z
    .strictObject({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
      summary: z.literal("auto").optional(),
    })
    .optional(),
  text: z
    .strictObject({ verbosity: z.enum(["low", "medium", "high"]).optional(), format: format.optional() })
    .optional(),
  max_output_tokens: z.int().min(16),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  parallel_tool_calls: z.boolean().optional(),
  seed: z.never().optional(),
  tools: z.array(functionTool).optional(),
  tool_choice: z.enum(["none", "auto", "required"]).optional(),
  stream: z.boolean().optional(),
});
type ResponseRequest = z.infer<typeof requestBody>;
type Item = Record<string, unknown> & { type: string; id: string };

/** The answer to one call: `items` of a reply, an end that is not `completed`, an error, or a broken stream. */
export type ResponseLine = {
  items?: Item[];
  incomplete?: "max_output_tokens" | "content_filter";
  error?: { status: number; body: unknown; headers?: Record<string, string> };
  failed?: object;
  isCut?: boolean;
};

/** `oneIndex`, `oneId`: all items share them. `callsAtEnd`: calls come only with the last event. */
export type StreamFlaws = { oneIndex?: true; oneId?: true; emptyEnd?: true; callsAtEnd?: true };

const newId = (prefix: string) => `${prefix}_${randomBytes(24).toString("hex")}`;

export const reasoningItem = (summary: string): Item => ({
  id: newId("rs"),
  type: "reasoning",
  summary: summary === "" ? [] : [{ type: "summary_text", text: summary }],
  encrypted_content: opaque(2_000),
});
export const messageItem = (answer: string, more: object = {}): Item => ({
  id: newId("msg"),
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", annotations: [], logprobs: [], text: answer }],
  ...more,
});
export const callItem = (name: string, input: unknown): Item => ({
  id: newId("fc"),
  type: "function_call",
  status: "completed",
  call_id: `call_${randomBytes(12).toString("hex")}`,
  name,
  arguments: typeof input === "string" ? input : JSON.stringify(input),
});

/** Reasons and calls `calculate` in each of these turns, then answers. */
export const calculatesFor =
  (turns: number) =>
  (turn: number): ResponseLine =>
    turn < turns
      ? {
          items: [
            reasoningItem(`I have to add. Step ${turn} 🌍`),
            callItem("calculate", { expression: `${turn} + 1` }),
            callItem("calculate", { expression: `${turn} + 2` }),
          ],
        }
      : { items: [reasoningItem(""), messageItem(`Done after ${turns}.`)] };

type StrictResponses = {
  url: string;
  answered: number;
  rejected: string[];
  requests: ResponseRequest[];
  sent: string[];
  close(): Promise<void>;
};

// What an item is known by, since ids do not go back.
const keyOf = (item: object) =>
  "encrypted_content" in item
    ? String(item.encrypted_content)
    : "call_id" in item && !("output" in item)
      ? String(item.call_id)
      : "content" in item && "type" in item
        ? writeTexts(item.content)
        : "";
const writeTexts = (content: unknown) =>
  JSON.stringify(
    z
      .array(text)
      .safeParse(content)
      .data?.map((part) => part.text) ?? null,
  );

// A call that the API would not take back may be repaired.
const withoutNames = ({ id: _id, status: _status, content, ...item }: Record<string, unknown>) => ({
  ...item,
  ...(item.type === "function_call" && {
    name: safeName(String(item.name)),
    arguments: safeArguments(String(item.arguments)),
  }),
  texts: writeTexts(content),
});
const isBack = (item: object | undefined, sent: Item | undefined) =>
  item !== undefined &&
  sent !== undefined &&
  isDeepStrictEqual(withoutNames({ ...item }), withoutNames(sent));

/**
 * Serves the API. `reply` gets the number of replies that came back, from 0. `rejects`: unsupported parameters.
 * `beforeReply` may delay a reply to a correctly returned conversation. `hasForgotten`: no reasoning can be verified any
 * more.
 */
export async function startStrictResponses(
  reply: (turn: number, request: ResponseRequest) => ResponseLine,
  {
    rejects = [],
    beforeReply,
    hasForgotten = () => false,
    flaws = {},
  }: {
    rejects?: readonly string[];
    beforeReply?: (turn: number) => Promise<unknown>;
    hasForgotten?: () => boolean;
    flaws?: StreamFlaws;
  } = {},
): Promise<StrictResponses> {
  const replies = new Map<string, Item[]>();

  function check(input: ResponseRequest["input"]): string | null {
    const calls = new Set<string>();
    const answered = new Set<string>();
    for (const [index, item] of input.entries()) {
      if (item.type === "function_call_output") {
        if (!calls.has(item.call_id))
          return `No tool call found for function call output with call_id ${item.call_id}.`;
        answered.add(item.call_id);
      }
      if (item.type === "function_call") calls.add(item.call_id);
      if ("id" in item && item.id !== undefined)
        return `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`;
      if (hasForgotten() && item.type === "reasoning")
        return "The encrypted content gAAA...DQ== could not be verified.";
      const sent = hasForgotten() ? undefined : replies.get(keyOf(item));
      if (sent === undefined) continue;
      const at = sent.findIndex((each) => keyOf(each) === keyOf(item));
      if (!isBack(item, sent[at])) return `The item '${sent[at]?.id}' was modified.`;
      const before = sent[at - 1];
      if (before?.type === "reasoning" && !isBack(input[index - 1], before))
        return `Item '${sent[at]?.id}' of type '${item.type}' was provided without its required 'reasoning' item: '${before.id}'.`;
      if (item.type === "reasoning" && !isBack(input[index + 1], sent[at + 1]))
        return `Item '${sent[at]?.id}' of type 'reasoning' was provided without its required following item.`;
    }
    const open = [...calls].find((id) => !answered.has(id));
    return open === undefined ? null : `No tool output found for function call ${open}.`;
  }

  const reject = (message: string, param: string) => {
    const error = { message, type: "invalid_request_error", param, code: null };
    return Response.json({ error }, { status: 400 });
  };

  const { origin, close } = await serveFetch(async (incoming) => {
    if (!incoming.url.endsWith("/v1/responses") || incoming.method !== "POST")
      return Response.json(
        { error: { message: "Invalid URL", type: "invalid_request_error" } },
        { status: 404 },
      );
    const body: unknown = await incoming.json();
    if (typeof body === "object" && body !== null && "messages" in body)
      return reject(
        "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.",
        "messages",
      );
    const parsed = requestBody.safeParse(body);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
      const path = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].join(".");
      return reject(
        unknown === undefined ? `Invalid '${path}': ${issue?.message}` : `Unknown parameter: '${path}'.`,
        path,
      );
    }
    const request = parsed.data;
    server.requests.push(request);
    for (const parameter of rejects) {
      const [outer = "", inner] = parameter.split(".");
      const value: unknown = Object.entries(request).find(([name]) => name === outer)?.[1];
      const isSent =
        inner === undefined
          ? value !== undefined
          : typeof value === "object" && value !== null && inner in value;
      if (!isSent) continue;
      if (parameter === "include")
        return reject("Encrypted content is not supported with this model.", "include");
      return reject(`Unsupported parameter: '${parameter}' is not supported with this model.`, parameter);
    }
    const long = longDescription(request.tools ?? [], "description");
    if (long !== null) return reject(long.message, long.param);
    const invalid = openaiToolsProblem(request.tools ?? []);
    if (invalid !== null) return reject(invalid.message, `tools[${invalid.index}].parameters`);
    const problem = check(request.input);
    if (problem !== null) {
      server.rejected.push(problem);
      return reject(problem, "input");
    }
    const back = new Set(request.input.map((item) => replies.get(keyOf(item))).filter((each) => each));
    await beforeReply?.(back.size);
    const { items = [], incomplete, error, failed, isCut = false } = reply(back.size, request);
    if (error !== undefined)
      return Response.json(error.body, { status: error.status, headers: error.headers ?? {} });
    const given =
      request.include === undefined ? items.map(({ encrypted_content: _, ...item }) => item) : items;
    for (const item of given) replies.set(keyOf(item), given as Item[]);
    server.answered += 1;
    server.sent.push(JSON.stringify(given));
    const whole = {
      id: newId("resp"),
      object: "response",
      created_at: 1_760_000_000,
      status: incomplete === undefined ? "completed" : "incomplete",
      error: null,
      incomplete_details: incomplete === undefined ? null : { reason: incomplete },
      instructions: request.instructions ?? null,
      model: request.model,
      output: given,
      store: false,
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 30 },
        total_tokens: 150,
      },
    };
    if (request.stream !== true) return Response.json(failed === undefined ? whole : { ...whole, ...failed });
    const started = { ...whole, status: "in_progress", output: [], usage: null };
    const ended = flaws.emptyEnd ? { ...whole, output: [] } : whole;
    const end = failed === undefined ? ended : { ...ended, ...failed };
    const events = [
      { type: "response.created", response: started },
      { type: "response.in_progress", response: started },
      ...given.flatMap((item, index) => {
        if (flaws.callsAtEnd && item.type === "function_call") return [];
        const own = { ...(item as Item), ...(flaws.oneId && { id: "__fake_id__" }) };
        return eventsOf(own, flaws.oneIndex ? 0 : index);
      }),
      ...(isCut ? [] : [{ type: `response.${end.status}`, response: end }]),
    ];
    const stream = events
      .map((event, index) => ({ ...event, sequence_number: index }))
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join("");
    return new Response(stream, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  });
  const server: StrictResponses = {
    url: `${origin}/v1`,
    answered: 0,
    rejected: [],
    requests: [],
    sent: [],
    close,
  };
  return server;
}

const part = z.looseObject({ text: z.string().optional(), refusal: z.string().optional() });

function eventsOf(item: Item, output_index: number): { type: string }[] {
  const at = { item_id: item.id, output_index };
  const deltas = (type: string, whole: string, more: object = {}) => [
    ...cut(whole).map((delta) => ({ type: `response.${type}.delta`, ...at, ...more, delta })),
    { type: `response.${type}.done`, ...at, ...more, text: whole },
  ];
  const parts = (list: unknown, type: string, name: string) =>
    z
      .array(part)
      .catch([])
      .parse(list)
      .flatMap((each, index) => [
        { type: `response.${type}_part.added`, ...at, [name]: index, part: { ...each, text: "" } },
        ...deltas(
          type === "content"
            ? each.refusal === undefined
              ? "output_text"
              : "refusal"
            : "reasoning_summary_text",
          each.text ?? each.refusal ?? "",
          { [name]: index },
        ),
        { type: `response.${type}_part.done`, ...at, [name]: index, part: each },
      ]);
  const started = {
    ...item,
    ...(item.type === "message" && { content: [], status: "in_progress" }),
    ...(item.type === "function_call" && { arguments: "", status: "in_progress" }),
    // The encrypted reasoning of the first event is not that of the last.
    ...(item.type === "reasoning" && { summary: [], encrypted_content: opaque(300) }),
  };
  return [
    { type: "response.output_item.added", output_index, item: started } as { type: string },
    ...(item.type === "message" ? parts(item.content, "content", "content_index") : []),
    ...(item.type === "reasoning" ? parts(item.summary, "reasoning_summary", "summary_index") : []),
    ...(item.type === "function_call" ? deltas("function_call_arguments", String(item.arguments)) : []),
    { type: "response.output_item.done", output_index, item } as { type: string },
  ];
}
