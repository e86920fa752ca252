import { createServer, type IncomingMessage } from "node:http";
import { listen } from "./ports.mjs";

type Message = { role: string; content: string | null };
export type ModelReply = {
  content: string;
  calls?: { name: string; input: object }[];
  /** The delay before the reply. */
  delayMs: number;
};

/** Every reply has the same usage, so that equal runs cost the same. */
const USAGE = { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 };

/** Serves streamed chat completions on loopback for programs that load the service. Cheap, so that it is not measured. */
export async function serveModel(reply: (messages: Message[]) => ModelReply) {
  const server = createServer(async (incoming, outgoing) => {
    const { messages, model } = JSON.parse(await readText(incoming));
    const { content, calls = [], delayMs } = reply(messages);
    const toolCalls = calls.map(({ name, input }, index) => ({
      index,
      id: `call-${messages.length}-${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const delta = { role: "assistant", content, ...(calls.length > 0 && { tool_calls: toolCalls }) };
    const frames = [
      { choices: [{ index: 0, delta, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }] },
      { choices: [], usage: USAGE },
    ].map((frame) =>
      JSON.stringify({ id: "c", created: 1, model, object: "chat.completion.chunk", ...frame }),
    );
    const body = [...frames, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
    const send = () => {
      outgoing.writeHead(200, {
        "Content-Type": "text/event-stream",
        "Content-Length": Buffer.byteLength(body),
      });
      outgoing.end(body);
    };
    if (delayMs > 0) setTimeout(send, delayMs).unref();
    else send();
  });
  server.keepAliveTimeout = 60_000;
  return { port: await listen(server), close: () => void server.close() };
}

/** Reads the body of a request. */
export async function readText(incoming: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  return text;
}
