import { createServer } from "node:http";
import { listen } from "../support/ports.mjs";

/**
 * A scripted model for the benchmark: requests a calculation twice and then answers, with a delay of MODEL_DELAY_MS.
 * Chat completions, streamed or not. To "Wait." it answers after 20 s. Prints its port.
 */
const delay = Number(process.env.MODEL_DELAY_MS ?? 0);
const usage = { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 };

/** @param {any} request */
function answer({ messages, stream, model }) {
  const done = messages.filter((/** @type {{ role: string }} */ { role }) => role === "tool").length;
  const call = {
    id: `call-${done}`,
    type: "function",
    function: { name: "calculate", arguments: '{"expression":"6 * 7"}' },
  };
  const isLast = done >= 2;
  const finish = isLast ? "stop" : "tool_calls";
  const common = { id: "c", created: 1, model };
  if (!stream) {
    const message = isLast
      ? { role: "assistant", content: "42" }
      : { role: "assistant", content: null, tool_calls: [call] };
    return JSON.stringify({
      ...common,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    });
  }
  const delta = isLast ? { content: "42" } : { tool_calls: [{ index: 0, ...call }] };
  const chunks = [
    { choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage },
  ];
  const frames = chunks.map(
    (chunk) => `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", ...chunk })}\n\n`,
  );
  return `${frames.join("")}data: [DONE]\n\n`;
}

const server = createServer((incoming, outgoing) => {
  let text = "";
  incoming.setEncoding("utf8");
  incoming.on("data", (chunk) => {
    text += chunk;
  });
  incoming.on("end", () => {
    const request = JSON.parse(text);
    const body = answer(request);
    const send = () => {
      const type = request.stream ? "text/event-stream" : "application/json";
      outgoing.writeHead(200, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
      outgoing.end(body);
    };
    const wait = request.messages.at(-1).content === "Wait." ? 20_000 : delay;
    if (wait > 0) setTimeout(send, wait).unref();
    else send();
  });
});
server.keepAliveTimeout = 60_000;
console.log(await listen(server));
