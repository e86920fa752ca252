import { Pool } from "pg";
import { createTestDatabase } from "@/server/testing/database";
import { describeEngine } from "../engine-suite";
import { openApp } from "../testing/embedded-app";
import type { EmbeddedEngine } from "./engine";

describeEngine("the embedded engine", async () => {
  const database = await createTestDatabase();
  const config = { connectionString: database.url };
  const pool = new Pool({ ...config, max: 20 });
  const engines: EmbeddedEngine[] = [];
  let apps = 0;
  return {
    async serve(define) {
      const { engine, client } = await openApp(pool, config, `suite${++apps}`, define);
      engines.push(engine);
      await engine.start();
      return client;
    },
    async close() {
      await Promise.all(engines.map((engine) => engine.stop(0)));
      await pool.end();
      await database.drop();
    },
  };
});
