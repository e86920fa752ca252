import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../scripts/support/ports.mjs";

const CALCULATE = { name: "calculate", arguments: '{"expression":"6 * 7"}' };
const CALL = replyOf({ tool_calls: [{ index: 0, id: "call", type: "function", function: CALCULATE }] });
const ANSWER = replyOf({ content: "42" });

function replyOf(delta: object): string {
  const finish_reason = "tool_calls" in delta ? "tool_calls" : "stop";
  const choices = [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason }];
  const usage = { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 };
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "bench", choices, usage };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}

/**
 * Serves the model, which calls a function twice and then answers, and a bare node:http server. In a process of their
 * own, so that they are not measured with the load. `delayMs` is the time that the model waits.
 */
export async function serveOthers(delayMs: number) {
  const model = createServer(async (incoming, outgoing) => {
    const request = await text(incoming);
    const waitMs = request.includes('"Wait."') ? 20_000 : delayMs;
    if (waitMs > 0) await sleep(waitMs);
    const results = request.split('"role":"tool"').length - 1;
    outgoing.writeHead(200, { "Content-Type": "text/event-stream" }).end(results < 2 ? CALL : ANSWER);
  });
  model.keepAliveTimeout = 60_000;
  // As large as a run's status.
  const body = JSON.stringify({ filler: "x".repeat(350) });
  const headers = { "Content-Type": "application/json; charset=utf-8", "Content-Length": body.length };
  const bare = createServer((_incoming, outgoing) => outgoing.writeHead(200, headers).end(body));
  const close = () => {
    for (const server of [model, bare]) server.close().closeAllConnections();
  };
  return { model: await listen(model), bare: await listen(bare), close };
}
