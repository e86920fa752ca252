import pg from "pg";
import { expect, it } from "vitest";
import { openWorld } from "@/testing/world";
import { findLandmarks, seedMillionRuns } from "./million-runs";

const world = await openWorld();

it("fills a migrated database", { timeout: 60_000 }, async () => {
  const client = new pg.Client({ connectionString: world.env.databaseUrl });
  await client.connect();
  await seedMillionRuns(world, client, { runs: 2_000, print: () => {} });
  const { orgId } = await findLandmarks(client);
  const { rows } = await client.query(
    "SELECT count(*)::int AS runs, count(run_index.run_id)::int AS ended FROM runs LEFT JOIN run_index ON run_id = id WHERE runs.organization_id = $1",
    [orgId],
  );
  expect(rows).toEqual([{ runs: 2_000, ended: 1_970 }]);
  await client.end();
});
