import { randomBytes } from "node:crypto";
import { z } from "zod";
import { serveFetch } from "../fetch-server";
import { cut } from "./strict-chat";

const call = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const message = z.looseObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.unknown(),
  tool_calls: z.array(call).min(1).optional(),
  tool_call_id: z.string().optional(),
});
const tool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string(),
    parameters: z.looseObject({ type: z.literal("object"), properties: z.looseObject({}) }).optional(),
  }),
});
const format = z.strictObject({
  type: z.literal("json_schema"),
  json_schema: z.strictObject({ name: z.string(), schema: z.looseObject({}), strict: z.boolean() }),
});
const chatBody = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  tools: z.array(tool).min(1).optional(),
  tool_choice: z.enum(["auto", "none", "required"]).optional(),
  response_format: format.optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean() }).optional(),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
});
export type ChatBody = z.infer<typeof chatBody>;
type Rejection = { status: number; body: unknown; isEvent?: boolean };

export type Reply = {
  reasoning: string;
  text: string;
  calls: { id: string; name: string; arguments: string }[];
};
export type ChatServerFamily = {
  name: string;
  callId(): string;
  /** Null accepts the request. `turn` counts the replies that came back. */
  check(body: ChatBody, turn: number): Rejection | null;
  reject(message: string): Rejection;
  needsToolChoice?: true;
  whole(reply: Reply, body: ChatBody): object;
  events(reply: Reply, body: ChatBody): object[];
};

export const letters = (length: number) => randomBytes(length).toString("hex").slice(0, length);
export const finishOf = ({ calls }: Reply) => (calls.length > 0 ? "tool_calls" : "stop");
export const callsOf = ({ calls }: Reply) =>
  calls.map(({ id, ...called }) => ({ id, type: "function", function: called }));

/** The usage of each reply. Cached and reasoning tokens are named by each family. */
export const USAGE = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };

export const completion = (
  sent: object,
  { finish, ...more }: { finish: string; [name: string]: unknown },
) => ({
  id: `chatcmpl-${letters(12)}`,
  object: "chat.completion",
  created: 1_760_000_000,
  choices: [{ index: 0, message: { role: "assistant", ...sent }, finish_reason: finish }],
  ...more,
});

export const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_760_000_000,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
/** The event behind the last one, if usage was requested. */
export const usageChunk = (body: ChatBody, usage: object, more: object = {}) =>
  body.stream_options?.include_usage ? [{ ...chunk({}), choices: [], usage, ...more }] : [];

/** OpenAI's pieces of calls: id and name first, then parts of the arguments. */
export const callPieces = ({ calls }: Reply) =>
  calls.flatMap(({ id, name, arguments: text }, index) => [
    { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    ...cut(text).map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]);
export { cut };

function findDisorder({ messages }: ChatBody): string | null {
  let open: string[] = [];
  for (const { role, tool_calls = [], tool_call_id = "" } of messages) {
    if (role === "tool" && !open.includes(tool_call_id)) return `No call has the id ${tool_call_id}.`;
    if (role === "tool") open = open.filter((id) => id !== tool_call_id);
    else if (open.length > 0) return `No result of the call ${open[0]}.`;
    if (role === "assistant") open = tool_calls.map(({ id }) => id);
  }
  return messages.at(-1)?.role === "assistant" ? "The last message is the assistant's." : null;
}

/** The parameters of a request that are none of these. */
export const findUnknown = (body: ChatBody, known: string): string | undefined =>
  Object.keys(body).find((name) => !known.split(" ").includes(name));

type ChatServer = {
  url: string;
  rejected: string[];
  bodies: ChatBody[];
  close(): Promise<void>;
};

/** Reasons and calls `calculate` twice if it may, then answers with `{"sum": 2}`. */
export async function startChatServer(
  family: ChatServerFamily,
  { streams = true }: { streams?: boolean } = {},
): Promise<ChatServer> {
  function answer(body: ChatBody): Rejection | Reply {
    const turn = body.messages.filter(({ role }) => role === "assistant").length;
    const disorder = findDisorder(body);
    const rejection =
      body.stream && !streams
        ? family.reject("stream is not supported")
        : disorder === null
          ? family.check(body, turn)
          : family.reject(disorder);
    if (rejection !== null) return rejection;
    const choice = body.tool_choice ?? (family.needsToolChoice ? "none" : "auto");
    const isCalling = turn === 0 && body.tools !== undefined && choice !== "none";
    const calls = isCalling
      ? ["1 + 0", "1 + 1"].map((expression) => ({
          id: family.callId(),
          name: "calculate",
          arguments: JSON.stringify({ expression }),
        }))
      : [];
    return { reasoning: `I have to add. Step ${turn} 🌍`, text: isCalling ? "" : '{"sum": 2}', calls };
  }
  const { origin, close } = await serveFetch(async (incoming) => {
    if (!incoming.url.endsWith("/v1/chat/completions")) return Response.json({}, { status: 404 });
    const parsed = chatBody.safeParse(await incoming.json());
    const body = parsed.data;
    const reply = body === undefined ? family.reject(String(parsed.error)) : answer(body);
    if (body === undefined || "status" in reply) {
      const rejection = "status" in reply ? reply : family.reject("");
      server.rejected.push(JSON.stringify(rejection.body));
      if (rejection.isEvent && body?.stream) return eventStream([rejection.body]);
      return Response.json(rejection.body, { status: rejection.status });
    }
    server.bodies.push(body);
    return body.stream ? eventStream(family.events(reply, body)) : Response.json(family.whole(reply, body));
  });
  const server: ChatServer = { url: `${origin}/v1`, rejected: [], bodies: [], close };
  return server;
}

function eventStream(events: readonly unknown[]): Response {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}
