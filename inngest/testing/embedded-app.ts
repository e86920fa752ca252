import { Inngest, type InngestFunction } from "inngest";
import type { ClientConfig, Pool } from "pg";
import { systemClock } from "@/server/clock";
import { type TestLogger, testLogger } from "@/server/testing/log";
import { createEmbeddedEngine, type EmbeddedEngine, type EmbeddedEngineOptions } from "../embedded/engine";

export type EmbeddedApp = { engine: EmbeddedEngine; client: Inngest; log: TestLogger };

/** An engine in this process with a client and its functions, not yet started; retries come at once. */
export async function openApp(
  pool: Pool,
  listenConfig: ClientConfig,
  id: string,
  define: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EmbeddedEngineOptions> = {},
): Promise<EmbeddedApp> {
  const log = testLogger();
  const engine = createEmbeddedEngine({
    pool,
    listenConfig,
    clock: systemClock,
    log,
    retryDelayMs: () => 20,
    ...options,
  });
  const client = new Inngest({
    id,
    fetch: engine.fetch,
    isDev: true,
    baseUrl: "http://engine.local",
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  await engine.register(client, define(client));
  return { engine, client, log };
}
