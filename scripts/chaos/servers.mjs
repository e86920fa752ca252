import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../support/ports.mjs";

/** The servers that runs call: a recorder of side effects and a scripted model. */

/** Iterations of an agent run before its answer. */
export const ITERATIONS = 4;
/** The iteration in which the agent calls the tool, as a child run, beside one side effect. */
const TOOL_ITERATION = 1;
/** The number of steps of one agent run without its child runs, and of one tool run. */
export const STEPS = { agent: ITERATIONS * 2, tool: 3 };

const random = (/** @type {number} */ limit) => Math.floor(Math.random() * limit);

/** @param {import("node:http").RequestListener} listener @returns {Promise<{ port: number, close: () => void }>} */
async function serve(listener) {
  const server = createServer(listener);
  return { port: await listen(server), close: () => void server.close() };
}

/** @param {import("node:http").IncomingMessage} request @returns {Promise<string>} */
async function readText(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Records when each step, identified by its Idempotency-Key (run and step), was executed. */
export async function startRecorder() {
  /** @type {Map<string, number[]>} */
  const executions = new Map();
  const server = await serve(async (request, response) => {
    const key = String(request.headers["idempotency-key"]);
    executions.set(key, [...(executions.get(key) ?? []), Date.now()]);
    await readText(request);
    await sleep(20 + random(150));
    response.setHeader("content-type", "application/json");
    response.end('{"ok":true}');
  });
  return { executions, url: `http://127.0.0.1:${server.port}/effect`, ...server };
}

/**
 * A model that requests two calls per iteration, then answers. Every reply has the same usage, so that every run of a
 * kind costs the same.
 * @param {string} effectUrl
 */
export function startModel(effectUrl) {
  return serve(async (request, response) => {
    const { messages } = JSON.parse((await readText(request)) || "{}");
    await sleep(30 + random(200));
    const iteration = messages.filter(
      (/** @type {{ role: string }} */ { role }) => role === "assistant",
    ).length;
    const isLast = iteration >= ITERATIONS;
    const call = (/** @type {number} */ index) => {
      const isTool = iteration === TOOL_ITERATION && index === 2;
      const input = isTool ? {} : { url: effectUrl, method: "POST", body: { iteration, index } };
      const name = isTool ? "effects" : "http_request";
      return {
        id: `c${iteration}-${index}`,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      };
    };
    const message = isLast
      ? { role: "assistant", content: "All done." }
      : { role: "assistant", content: "Next.", tool_calls: [call(1), call(2)] };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: "x",
        object: "chat.completion",
        created: 0,
        model: "chaos",
        choices: [{ index: 0, message, finish_reason: isLast ? "stop" : "tool_calls" }],
        usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 },
      }),
    );
  });
}

/** @param {string} slug @param {number} concurrency @param {string} effectUrl */
export const organizationOf = (slug, concurrency, effectUrl) => ({
  slug,
  name: slug,
  plan: { apiAccess: true, startsPerMinute: 100_000, readsPerMinute: 100_000, concurrency },
  credits: 10_000,
  apiKeys: [{ name: "chaos" }],
  tools: [
    {
      slug: "effects",
      name: "Effects",
      description: "Three effects, one after another.",
      parameters: { type: "object", properties: {} },
      steps: [1, 2, 3].map((n) => ({
        id: `effect${n}`,
        uses: "http_request",
        with: { url: effectUrl, method: "POST", body: { n } },
      })),
      output: { done: true },
    },
  ],
  agents: [
    {
      slug: "chaos",
      name: "Chaos",
      model: "chaos",
      systemPrompt: "Go.",
      maxSteps: 8,
      functions: ["http_request"],
      tools: ["effects"],
    },
  ],
});
