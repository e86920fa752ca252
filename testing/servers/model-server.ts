import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import type { ModelRequest } from "@/server/work/models/port";
import { closeServer, listen } from "./listen";

type ModelServerReply =
  | {
      content?: string | null;
      calls?: { name: string; arguments: unknown; id?: string }[];
      /** Unset: 10 in and 5 out; null: no usage. */
      usage?: { inputTokens: number; outputTokens: number } | null;
      reported?: object;
      delayMs?: number;
      /** Pieces of streamed `content`, the last one after `beforeLast`. */
      pieces?: string[];
      beforeLast?: Promise<unknown>;
    }
  /** `retryAfter` in seconds; `code` is OpenAI's. */
  | { status: number; message?: string; retryAfter?: number; code?: string }
  /** `hang`: no response; `drop`: the connection is closed; `broken`: half of a JSON document. */
  | { fault: "hang" | "drop" | "broken" }
  | { body: unknown }
  /** As JSON; `isCut`: without the end of the stream. */
  | { events: unknown[]; isCut?: boolean };

/** An array has one reply for each attempt of a call. */
type ModelServerLine = ModelServerReply | ModelServerReply[];

const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.looseObject({})).optional(),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).optional(),
});
type ModelServerRequest = {
  body: z.infer<typeof chatRequest>;
  headers: IncomingMessage["headers"];
  turn: number;
};

export type ModelServer = {
  url: string;
  requests: ModelServerRequest[];
  /**
   * For conversations that contain `marker`: one line per model call, the last one repeats. Concurrent
   * conversations are independent.
   */
  script(marker: string, ...lines: ModelServerLine[]): void;
  close(): Promise<void>;
};

/**
 * Starts a scripted server of OpenAI's chat completions, for tests with OPENAI_BASE_URL. Without a script it answers
 * "ok".
 */
export async function startModelServer(options: { port?: number } = {}): Promise<ModelServer> {
  const scripts: { marker: string; lines: ModelServerLine[] }[] = [];
  const requests: ModelServerRequest[] = [];
  const attempts = new Map<string, number>();
  let answered = 0;

  function replyFor(request: ModelServerRequest): ModelServerReply {
    const text = JSON.stringify(request.body.messages);
    // The latest script wins, so that a test can replace one.
    const script = scripts.findLast(({ marker }) => text.includes(JSON.stringify(marker).slice(1, -1)));
    const line = script?.lines[Math.min(request.turn, script.lines.length - 1)];
    if (line === undefined) return { content: "ok" };
    if (!Array.isArray(line)) return line;
    const asked = request.body.messages.find(({ role }) => role === "user")?.content;
    const call = JSON.stringify([script?.marker, request.turn, asked]);
    const count = attempts.get(call) ?? 0;
    attempts.set(call, count + 1);
    return line[Math.min(count, line.length - 1)] ?? { content: "ok" };
  }

  async function answer(request: ModelServerRequest, response: ServerResponse): Promise<void> {
    const reply = replyFor(request);
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    if ("fault" in reply) {
      if (reply.fault === "drop") response.socket?.destroy();
      if (reply.fault === "broken") {
        response.writeHead(200, { "content-type": "application/json" });
        response.end('{"choices": [{"message"');
      }
      return;
    }
    if ("status" in reply) {
      const retry = reply.retryAfter === undefined ? {} : { "retry-after": String(reply.retryAfter) };
      const { message = "scripted failure", code = null } = reply;
      send(reply.status, { error: { message, type: "error", code } }, retry);
      return;
    }
    if ("body" in reply) return send(200, reply.body);
    if ("events" in reply) {
      const { events, isCut = false } = reply;
      beginEvents(response);
      for (const event of events) sendEvent(response, event);
      if (isCut) response.socket?.destroySoon();
      else response.end("data: [DONE]\n\n");
      return;
    }
    if (reply.delayMs !== undefined) await new Promise((done) => setTimeout(done, reply.delayMs));
    answered += 1;
    const number = answered;
    const calls = (reply.calls ?? []).map((call, index) => ({
      id: call.id ?? `call_${number}_${index + 1}`,
      type: "function",
      function: {
        name: call.name,
        arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
      },
    }));
    const usage = reply.usage === undefined ? { inputTokens: 10, outputTokens: 5 } : reply.usage;
    const counted = usage && {
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
    };
    const reported = reply.reported ?? counted;
    if (request.body.stream === true) {
      const { content = "", pieces = [content ?? ""], beforeLast } = reply;
      const choice = (delta: object, finish_reason: string | null = null) => {
        sendEvent(response, { id: `chatcmpl-${number}`, choices: [{ index: 0, delta, finish_reason }] });
      };
      beginEvents(response);
      choice({ role: "assistant", content: "" });
      for (const piece of pieces.slice(0, -1)) choice({ content: piece });
      await beforeLast;
      choice({ content: pieces.at(-1) });
      calls.forEach(({ id, function: { name, arguments: json } }, index) => {
        choice({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
        const half = Math.ceil(json.length / 2);
        for (const part of [json.slice(0, half), json.slice(half)]) {
          choice({ tool_calls: [{ index, function: { arguments: part } }] });
        }
      });
      choice({}, calls.length > 0 ? "tool_calls" : "stop");
      if (request.body.stream_options?.include_usage && reported)
        sendEvent(response, { choices: [], usage: reported });
      response.end("data: [DONE]\n\n");
      return;
    }
    send(200, {
      id: `chatcmpl-${number}`,
      object: "chat.completion",
      created: 0,
      model: request.body.model,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: reply.content ?? (calls.length > 0 ? null : ""),
            ...(calls.length > 0 && { tool_calls: calls }),
          },
          finish_reason: calls.length > 0 ? "tool_calls" : "stop",
        },
      ],
      ...(reported && { usage: reported }),
    });
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("error", () => response.destroy());
    incoming.on("end", () => {
      const parsed = chatRequest.safeParse(parse(Buffer.concat(chunks).toString()));
      if (!incoming.url?.endsWith("/chat/completions") || !parsed.success) {
        response.writeHead(404, { "content-type": "application/json" });
        response.end('{"error":{"message":"no such thing here"}}');
        return;
      }
      const turn = parsed.data.messages.filter(({ role }) => role === "assistant").length;
      const request = { body: parsed.data, headers: incoming.headers, turn };
      requests.push(request);
      answer(request, response).catch(() => response.destroy());
    });
  });
  const port = await listen(server, options.port);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    script: (marker, ...lines) => void scripts.push({ marker, lines }),
    close: () => closeServer(server),
  };
}

function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

function sendEvent(response: ServerResponse, event: unknown): void {
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const modelRequest = (content: string, overrides: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "gpt-test",
  messages: [{ role: "user", content }],
  tools: [],
  maxOutputTokens: 500,
  signal: new AbortController().signal,
  ...overrides,
});
