import { randomBytes } from "node:crypto";
import { z } from "zod";
import { serveFetch } from "../fetch-server";

/** An assistant message as a server sends it without streaming. */
type SentMessage = Record<string, unknown> & { content: string | null; tool_calls?: SentCall[] };
type SentCall = Record<string, unknown> & { function: { name: string; arguments: string } };

/** A family of chat servers that rejects a conversation unless it gets back what it gave. */
export type ChatFamily = {
  name: string;
  /** From 0. A new message each time. */
  reply(turn: number): SentMessage;
  pieces(message: SentMessage): object[];
  check(sent: SentMessage, back: BackMessage): string | null;
  /** Null if there is no issue; unset: it knows none. */
  checkForeign?(back: BackMessage): string | null;
  errorBody(message: string): unknown;
};

const backCall = z.looseObject({ id: z.string(), function: z.looseObject({ arguments: z.string() }) });
const backMessage = z.looseObject({ role: z.string(), tool_calls: z.array(backCall).optional() });
export type BackMessage = z.infer<typeof backMessage>;
const chatRequest = z.object({ stream: z.boolean().optional(), messages: z.array(backMessage) });

/** A text of random characters, as signatures and encrypted reasoning are. */
export const opaque = (bytes = 900) => randomBytes(bytes).toString("base64");

export const calculation = (turn: number): SentCall => ({
  id: `call-${randomBytes(6).toString("hex")}`,
  type: "function",
  function: { name: "calculate", arguments: JSON.stringify({ expression: `${turn} + 1` }) },
});

/** Cuts a text into pieces, as a stream has them; an empty one is one piece. */
export const cut = (text: string): string[] => text.match(/[\s\S]{1,7}/g) ?? [text];

type StrictChat = {
  url: string;
  answered: number;
  rejected: string[];
  sent: string[];
  close(): Promise<void>;
};

/**
 * Serves a family: `turns` replies with calls, then an answer. Without `streams` it rejects streaming.
 * `beforeReply` may delay a reply to a correctly returned conversation. In the turns of `fails` it is overloaded.
 */
export async function startStrictChat(
  family: ChatFamily,
  {
    streams = true,
    turns = 2,
    fails = [],
    beforeReply,
  }: {
    streams?: boolean;
    turns?: number;
    fails?: readonly number[];
    beforeReply?: (turn: number) => Promise<unknown>;
  } = {},
): Promise<StrictChat> {
  const known = new Map<string, SentMessage>();
  const reject = (message: string) => {
    chat.rejected.push(message);
    return Response.json(family.errorBody(message), { status: 400 });
  };
  const { origin, close } = await serveFetch(async (request) => {
    const { stream, messages } = chatRequest.parse(await request.json());
    if (stream && !streams)
      return Response.json({ error: { message: "stream is unsupported" } }, { status: 400 });
    const back = messages.filter(({ role }) => role === "assistant");
    if (fails.includes(back.length))
      return Response.json(family.errorBody("The model is overloaded."), { status: 503 });
    for (const [index, message] of back.entries()) {
      const sent = known.get(message.tool_calls?.[0]?.id ?? "");
      const problem =
        sent !== undefined
          ? family.check(sent, message)
          : family.checkForeign === undefined
            ? `message ${index} is unknown`
            : family.checkForeign(message);
      if (problem !== null) return reject(problem);
    }
    await beforeReply?.(back.length);
    const message: SentMessage =
      back.length < turns ? family.reply(back.length) : { content: `Done after ${turns}.` };
    known.set(String(message.tool_calls?.[0]?.id), message);
    chat.answered += 1;
    chat.sent.push(JSON.stringify(message));
    const finish_reason = message.tool_calls ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    if (!stream) {
      return Response.json({
        choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
        usage,
      });
    }
    const events = [
      ...family.pieces(message).map((delta) => ({ choices: [{ index: 0, delta }] })),
      { choices: [{ index: 0, delta: {}, finish_reason }] },
      { choices: [], usage },
    ];
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  });
  const chat: StrictChat = { url: `${origin}/v1`, answered: 0, rejected: [], sent: [], close };
  return chat;
}
