import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "@/testing/servers/listen";
import { startModelServer } from "@/testing/servers/model-server";

const ITERATIONS = 4;
/** The tool is a child run, beside one side effect. */
const TOOL_ITERATION = 1;
/** The number of steps of one agent run without its child runs, and of one tool run. */
export const STEPS = { agent: ITERATIONS * 2, tool: 3 };

/**
 * Records when each step, identified by its Idempotency-Key (run and step), was executed, and the runs whose end a
 * callback told.
 */
export async function startRecorder() {
  const executions = new Map<string, number[]>();
  const told = new Set<string>();
  const server = createServer(async (request, response) => {
    if (request.url === "/ends") {
      told.add(JSON.parse(await text(request)).data.id);
      response.writeHead(204).end();
      return;
    }
    const key = String(request.headers["idempotency-key"]);
    executions.set(key, [...(executions.get(key) ?? []), Date.now()]);
    request.resume();
    await sleep(20 + Math.random() * 150);
    response.writeHead(200, { "Content-Type": "application/json" }).end('{"ok":true}');
  });
  return { executions, told, port: await listen(server) };
}

/** Starts a model that requests two calls per iteration, then answers. */
export async function startModel(recorderPort: number) {
  const model = await startModelServer();
  const iterations = Array.from({ length: ITERATIONS }, (_, iteration) => ({
    content: "Next.",
    calls: [1, 2].map((index) =>
      iteration === TOOL_ITERATION && index === 2
        ? { name: "effects", arguments: {} }
        : { name: "http_request", arguments: effect(recorderPort, { iteration, index }) },
    ),
    delayMs: 30 + iteration * 50,
  }));
  model.script("go", ...iterations, { content: "All done.", delayMs: 100 });
  return model;
}

export const organizationOf = (slug: string, concurrency: number, recorderPort: number) => ({
  slug,
  plan: { apiAccess: true, startsPerMinute: 100_000, readsPerMinute: 100_000, concurrency },
  credits: 10_000,
  apiKeys: [{ name: "chaos" }],
  callbacks: [
    {
      slug: "ends",
      url: `http://127.0.0.1:${recorderPort}/ends`,
      events: ["run.completed", "run.failed", "run.cancelled"],
    },
  ],
  tools: [
    {
      slug: "effects",
      name: "Effects",
      description: "Three effects, one after another.",
      parameters: { type: "object", properties: {} },
      steps: [1, 2, 3].map((n) => ({
        id: `effect${n}`,
        uses: "http_request",
        with: effect(recorderPort, { n }),
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

function effect(port: number, body: object) {
  return { url: `http://127.0.0.1:${port}/effect`, method: "POST", body };
}
