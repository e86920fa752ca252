import { Inngest, type InngestFunction } from "inngest";
import { Pool } from "pg";
import { systemClock } from "@/server/clock";
import { createLogger, STDERR } from "@/server/log";
import { createEmbeddedEngine } from "../embedded/engine";

/**
 * A process of its own with the embedded engine, for tests that kill, stop or freeze one. It is bundled by
 * worker-process.ts. The one function has `steps` steps; each notes itself in the table `effects`, before it waits
 * `stepMs`.
 */
export function defineWork(client: Inngest, pool: Pool, process: string): InngestFunction.Any[] {
  const note = (run: unknown, step: string) =>
    pool.query("INSERT INTO effects (run, step, process) VALUES ($1, $2, $3)", [run, step, process]);
  return [
    client.createFunction(
      {
        id: "work",
        retries: 3,
        triggers: { event: "work/go" },
        onFailure: async ({ event }) => {
          await note(event.data.event.data.run, "onFailure");
        },
      },
      async ({ step, event }) => {
        const { run, steps, stepMs } = event.data;
        for (let n = 1; n <= steps; n++) {
          await step.run(`step-${n}`, async () => {
            await note(run, `step-${n}`);
            await new Promise((resolve) => setTimeout(resolve, stepMs));
          });
        }
        await step.run("end", () => note(run, "end"));
      },
    ),
  ];
}

const [config] = process.argv.slice(2);
if (config?.startsWith("{")) await main(JSON.parse(config));

async function main(options: {
  connection: { host: string; port: number; user: string; password: string; database: string };
  name: string;
  leaseMs: number;
  pollMs: number;
}): Promise<void> {
  const pool = new Pool({ ...options.connection, max: 5 });
  pool.on("error", () => {});
  const engine = createEmbeddedEngine({
    pool,
    listenConfig: options.connection,
    clock: systemClock,
    log: createLogger({ level: "debug", destination: STDERR }),
    leaseMs: options.leaseMs,
    pollMs: options.pollMs,
    retryDelayMs: () => 20,
  });
  const client = new Inngest({ id: "app", fetch: engine.fetch, isDev: true, baseUrl: "http://engine.local" });
  await engine.register(client, defineWork(client, pool, options.name));
  await engine.start();
  process.once("SIGTERM", () => void engine.stop(5_000).then(() => process.exit(0)));
  process.stdout.write("started\n");
}
