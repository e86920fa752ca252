import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/ports.mjs";
import { ROOT } from "../support/project.mjs";

/** The targets of the benchmark: a bare HTTP server, and the service of a checkout on a throwaway data folder. */

const HERE = join(ROOT, "scripts/bench");

/** @param {import("node:child_process").ChildProcess} child @param {(text: string) => boolean} isThere @returns {Promise<string>} */
function untilPrinted(child, isThere) {
  return new Promise((resolve, reject) => {
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        if (text.length < 100_000) text += chunk;
        if (isThere(text)) resolve(text);
      });
    }
    child.on("exit", () => reject(new Error(`A process ended:\n${text}`)));
  });
}

/** @param {string} script @param {NodeJS.ProcessEnv} env */
async function startServer(script, env = process.env) {
  const child = spawn(process.execPath, [join(HERE, script)], { stdio: ["ignore", "pipe", "inherit"], env });
  const port = Number(await untilPrinted(child, (text) => text.includes("\n")));
  return { pid: child.pid ?? 0, port, stop: () => void child.removeAllListeners("exit").kill() };
}

export const startBare = () => startServer("bare.mjs");
/** @param {number} delayMs before each answer */
export const startModel = (delayMs) =>
  startServer("model.mjs", { ...process.env, MODEL_DELAY_MS: String(delayMs) });

/** The service takes 300 calls a minute from one address to one trigger. */
const HOOKS = 20;

const DEFINITION = `organizations:
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

/**
 * Starts the built service of a checkout like `npm start`.
 * @param {{ name: string, root: string, modelPort: number }} options
 */
export async function startService({ name, root, modelPort }) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "stepwell-bench-"));
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
  await untilPrinted(child, (text) => text.includes("Stop with Ctrl-C"));
  const readyMs = performance.now() - began;
  writeFileSync(join(folder, "bench.yaml"), DEFINITION);
  const out = execFileSync(
    process.execPath,
    ["scripts/stepwell.mjs", "apply", join(folder, "bench.yaml"), "--json"],
    {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const [{ agents, tools, triggers, apiKeys }, eaters] = JSON.parse(out.toString()).organizations;
  const runOf = (/** @type {{ id: string }} */ { id }) => `/v1/tools/run/${id}`;
  return {
    name,
    port,
    pid: child.pid ?? 0,
    postmaster: postmasterIn(folder),
    readyMs,
    key: apiKeys[0].key,
    agent: `/v1/agents/run/${agents[0].id}`,
    tool: runOf(tools[0]),
    script: runOf(tools[1]),
    waiting: runOf(tools[2]),
    /** Another organization, whose scripts use up their memory. */
    eaters: { key: eaters.apiKeys[0].key, tool: runOf(eaters.tools[0]) },
    hooks: triggers.map((/** @type {{ token: string }} */ { token }) => `/webhooks/${token}`),
    async stop() {
      const ended = new Promise((resolve) => child.removeAllListeners("exit").on("exit", resolve));
      child.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {string} folder */
function postmasterIn(folder) {
  const file = readdirSync(folder, { recursive: true })
    .map(String)
    .find((name) => name.endsWith("postmaster.pid"));
  return file === undefined ? 0 : Number(readFileSync(join(folder, file), "utf8").split("\n")[0]);
}

/** @param {number} pid @returns {string[]} the fields of /proc/PID/stat after the name; Linux only */
const statOf = (pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];

/**
 * User and system time of a process so far, in ms; the kernel counts in hundredths of a second.
 * @param {number} pid
 */
export function cpuMs(pid) {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * The same for PostgreSQL: its postmaster, its processes, and those that ended.
 * @param {number} postmaster
 */
export function postgresCpuMs(postmaster) {
  const own = statOf(postmaster);
  const ended = (Number(own[13]) + Number(own[14])) * 10;
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  let sum = ended;
  for (const pid of [...children, postmaster]) {
    try {
      sum += cpuMs(Number(pid));
    } catch {
      // One of its connections ended in the meantime.
    }
  }
  return sum;
}

/** Resident memory of a process in MB. @param {number} pid */
export function memoryMb(pid) {
  return Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024,
  );
}
