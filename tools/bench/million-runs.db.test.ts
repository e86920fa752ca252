// @module-tag once
import pg from "pg";
import { expect, it } from "vitest";
import { mintOrgId } from "@/server/base/mint-org-id";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { openWorld } from "@/testing/world";
import { findLandmarks, seedMillionRuns } from "./million-runs";

const world = await openWorld();

it("fills a migrated database, on which runs start and end", { timeout: 60_000 }, async () => {
  const client = new pg.Client({ connectionString: world.env.databaseUrl });
  await client.connect();
  await seedMillionRuns(world, client, { runs: 2_000, print: () => {} });
  const { orgId } = await findLandmarks(client);
  const { rows } = await client.query(
    "SELECT count(*)::int AS runs, count(run_index.run_id)::int AS ended FROM runs LEFT JOIN run_index ON run_id = id WHERE runs.organization_id = $1",
    [orgId],
  );
  expect(rows).toEqual([{ runs: 2_000, ended: 1_970 }]);
  const agent = await world.db.agent.findFirstOrThrow({ where: { organizationId: orgId } });
  const actor = { kind: "operator", orgId: mintOrgId(orgId), name: "test" } as const;
  const { runId } = await startRun(world, actor, {
    kind: "agent",
    targetId: agent.id,
    userMessage: "Hello",
  });
  await executeRun(world, runId);
  const ended = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
  expect(ended.finishedAt).not.toBeNull();
  await client.end();
});
