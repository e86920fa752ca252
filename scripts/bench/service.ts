import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runningCluster } from "../postgres/postgres-cluster.mjs";
import { applyDefinitions } from "../support/apply-definitions";
import { freePort } from "../support/ports.mjs";
import { createThrowaway, removeThrowaway } from "../support/throwaway.mjs";

/** The service takes 300 calls a minute from one address to one trigger. */
const HOOKS = 20;

const DEFINITIONS = `organizations:
  - slug: bench
    name: Bench
    plan: { apiAccess: true, startsPerMinute: 100000, readsPerMinute: 10000000, concurrency: 1000 }
    credits: 100000000
    apiKeys: [{ name: bench }]
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
    triggers:
${Array.from({ length: HOOKS }, (_, n) => `      - { slug: hook-${n}, agent: helper, rateLimit: { requests: 100000, seconds: 60 } }`).join("\n")}
  - slug: eaters
    plan: { startsPerMinute: unlimited, readsPerMinute: unlimited, concurrency: 1000 }
    credits: 100000000
    apiKeys: [{ name: bench }]
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

export type Service = Awaited<ReturnType<typeof startService>>;

/** Starts the service of a checkout like `npm start`, on a throwaway data folder. */
export async function startService({
  name,
  root,
  modelPort,
}: {
  name: string;
  root: string;
  modelPort: number;
}) {
  const port = await freePort();
  const folder = await createThrowaway();
  const env = {
    ...process.env,
    PORT: String(port),
    APP_URL: "",
    DATABASE_URL: "",
    STEPWELL_SECRET: "",
    STEPWELL_DATA_DIR: folder,
    OPENAI_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
    OPENAI_API_KEY: "bench",
  };
  const began = performance.now();
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // `exec` replaces the shell, so its process is the service.
  const child = spawn("sh", ["-c", scripts.start], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  await new Promise<void>((resolve, reject) => {
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        if (text.length < 100_000) text += chunk;
        if (text.includes("Stop with Ctrl-C")) resolve();
      });
    }
    child.on("exit", () => reject(new Error(`The service ended:\n${text}`)));
  });
  const readyMs = performance.now() - began;
  const [bench, eaters] = await applyDefinitions(DEFINITIONS, { env, root });
  const start = (kind: "agents" | "tools", targets: { id: string }[] = [], index = 0) =>
    `/v1/${kind}/run/${targets[index]?.id}`;
  return {
    name,
    port,
    pid: child.pid ?? 0,
    postmaster: runningCluster(join(folder, "postgres"))?.pid ?? 0,
    readyMs,
    key: bench?.apiKeys[0]?.key ?? "",
    agent: start("agents", bench?.agents),
    tool: start("tools", bench?.tools),
    script: start("tools", bench?.tools, 1),
    waiting: start("tools", bench?.tools, 2),
    hooks: (bench?.triggers ?? []).map(({ token }) => `/webhooks/${token}`),
    /** Another organization, whose scripts use up their memory. */
    eaters: { port, key: eaters?.apiKeys[0]?.key ?? "", tool: start("tools", eaters?.tools) },
    async stop() {
      child.kill("SIGINT");
      await ended;
      await removeThrowaway(folder);
    },
  };
}
