import { Inngest } from "inngest";
import { Pool } from "pg";
import { systemClock } from "@/server/clock";
import { testLogger } from "@/server/testing/log";
import { describeEngine } from "../engine-suite";
import { startOwnPostgres } from "../testing/own-postgres";
import { createEmbeddedEngine, type EmbeddedEngine } from "./engine";

describeEngine("the embedded engine", async () => {
  const postgres = await startOwnPostgres();
  const pool = new Pool({ ...postgres.connection, max: 20 });
  const engines: EmbeddedEngine[] = [];
  return {
    async serve(define) {
      const engine = createEmbeddedEngine({
        pool,
        listenConfig: postgres.connection,
        clock: systemClock,
        log: testLogger(),
        retryDelayMs: () => 20,
      });
      engines.push(engine);
      const client = new Inngest({
        id: `suite${engines.length}`,
        fetch: engine.fetch,
        isDev: true,
        baseUrl: "http://engine.local",
        logger: silent,
      });
      await engine.register(client, define(client));
      await engine.start();
      return client;
    },
    async close() {
      await Promise.all(engines.map((engine) => engine.stop(0)));
      await pool.end();
      await postgres.stop();
    },
  };
});

const silent = { debug() {}, info() {}, warn() {}, error() {} };
