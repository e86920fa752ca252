import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { webhookPath } from "@/server/contract/webhook";
import { applyDefinitions, startService, untilReady } from "@/testing/services/service-process";
import { runningCluster } from "../../scripts/postgres/postgres-cluster.mjs";
import { createThrowaway, removeThrowaway } from "../../scripts/postgres/throwaway.mjs";
import { freePort } from "../../scripts/support/ports.mjs";
import { childrenOf } from "../process-figures";
import type { Database } from "./database";
import type { Start, Target } from "./target";

const HOOKS = 20;

const keys = [1, 2, 3, 4].map((n) => `{ name: bench-${randomUUID()}-${n} }`);

const DEFINITIONS = `organizations:
  - slug: bench
    name: Bench
    plan: { apiAccess: true, startsPerMinute: 100000, readsPerMinute: 10000000, concurrency: 1000 }
    credits: 100000000
    apiKeys: [${keys.join()}]
    agents:
      - { slug: helper, name: Helper, model: bench, systemPrompt: You help., functions: [calculate] }
    tools:
      - slug: pick
        name: Pick
        parameters: { type: object, properties: { a: { type: number } } }
        steps: [{ id: one, uses: transform_json, with: { value: "{{ input }}", expression: "a" } }]
        output: "{{ steps.one }}"
      - slug: script
        name: Script
        steps: [{ id: one, uses: run_javascript, with: { code: return 6 * 7 } }]
      - slug: waiting
        name: Waiting
        steps: [{ id: one, uses: wait, with: { seconds: 20 } }]
      - slug: lasting
        name: Lasting
        steps: [{ id: one, uses: wait, with: { seconds: 600 } }]
    triggers:
${Array.from({ length: HOOKS }, (_, n) => `      - { slug: hook-${n}, agent: helper, rateLimit: { requests: 100000, seconds: 60 } }`).join("\n")}
  - slug: eaters
    plan: { startsPerMinute: unlimited, readsPerMinute: unlimited, concurrency: 1000 }
    credits: 100000000
    apiKeys: [${keys[0]}]
    tools:
      - slug: eat
        name: Eat
        steps:
          - id: eat
            forEach: "[1..5]"
            uses: run_javascript
            with: { code: "const eaten = []; for (;;) eaten.push(new Uint8Array(1 << 20).fill(1));" }
            onError: continue
`;

type Checkout = {
  name: string;
  root: string;
  modelPort: number;
  /** By default, the service starts its own. */
  database?: Database | undefined;
};

/** Starts the service of a checkout on a throwaway data folder, with what the phases need. */
export async function openService({ name, root, modelPort, database }: Checkout): Promise<Target> {
  const port = await freePort();
  const folder = await createThrowaway();
  const env = {
    ...process.env,
    PORT: String(port),
    APP_URL: "",
    DATABASE_URL: database?.url ?? "",
    STEPWELL_SECRET: database ? "bench".repeat(8) : "",
    STEPWELL_DATA_DIR: folder,
    OPENAI_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
    OPENAI_API_KEY: "bench",
  };
  const began = performance.now();
  const child = startService({ env, root });
  if (!(await untilReady(child, port))) throw new Error(`The service of ${name} ended.`);
  const readyMs = performance.now() - began;
  const pid = child.pid ?? 0;
  const [bench, eaters] = await applyDefinitions(DEFINITIONS, { env, root });
  const startOf = (kind: "agents" | "tools", target: { id: string } | undefined, input: object): Start => ({
    paths: () => [`/v1/${kind}/run/${target?.id}`],
    body: JSON.stringify(input),
    statusPath: (runId) => `/v1/${kind}/run/${runId}/status`,
  });
  const [pick, script, waiting, lasting] = bench?.tools ?? [];
  return {
    name,
    port,
    pids: [pid, ...(process.env.STEPWELL_PROCESSES === undefined ? [] : childrenOf(pid))],
    postmaster: database?.pid ?? runningCluster(join(folder, "postgres"))?.pid ?? 0,
    readyMs,
    key: bench?.apiKeys[0]?.key ?? "",
    agent: startOf("agents", bench?.agents[0], { userMessage: "What is 6 * 7?" }),
    tool: startOf("tools", pick, { a: 1 }),
    own: {
      script: startOf("tools", script, {}),
      waiting: startOf("tools", waiting, {}),
      lasting: startOf("tools", lasting, {}),
      keys: (bench?.apiKeys ?? []).map(({ key }) => key),
      hooks: (bench?.triggers ?? []).map(({ token }) => webhookPath(token)),
      eaters: { key: eaters?.apiKeys[0]?.key ?? "", tool: startOf("tools", eaters?.tools[0], {}) },
    },
    readId: (body) => {
      const { id, runId } = JSON.parse(body);
      return runId ?? id;
    },
    readStatus: async (response) => (await response.json()).status,
    countStatements: database?.countStatements,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
      await database?.stop();
      await removeThrowaway(folder);
    },
  };
}
