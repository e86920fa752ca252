import { Pool } from "pg";
import { describeEngine } from "../engine-suite";
import { openApp } from "../testing/embedded-app";
import { startOwnPostgres } from "../testing/own-postgres";
import type { EmbeddedEngine } from "./engine";

describeEngine("the embedded engine", async () => {
  const postgres = await startOwnPostgres();
  const pool = new Pool({ ...postgres.connection, max: 20 });
  const engines: EmbeddedEngine[] = [];
  let apps = 0;
  return {
    async serve(define) {
      const { engine, client } = await openApp(postgres, pool, `suite${++apps}`, define);
      engines.push(engine);
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
