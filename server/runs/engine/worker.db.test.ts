import { expect, it } from "vitest";
import { z } from "zod";
import { newId } from "@/server/base/ids";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { claimRun } from "./claim";
import { removeWorker } from "./worker";
import type { StepRow } from "./write/journal-rows";
import { WorkerLost } from "./write/writer";

const world = await openWorld();
const tenant = await createTenant(world);

const start = () =>
  startRun(
    world,
    { kind: "operator", orgId: tenant.orgId, name: "test" },
    { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } },
  );

async function loseWorker(): Promise<string> {
  const { id } = await world.engine.worker();
  await removeWorker(world.pool, id);
  return id;
}

it("rows of a run are committed in order even if some must wait for the next flush", async () => {
  const runId = await insertRun(world, tenant, { status: "Running" });
  await world.pool.query(`
    CREATE TABLE step_log (id serial, sequence int, flush bigint);
    CREATE FUNCTION log_step() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO step_log (sequence, flush) VALUES (NEW.sequence, txid_current()); RETURN NULL; END $$;
    CREATE TRIGGER log_step AFTER INSERT OR UPDATE ON steps FOR EACH ROW EXECUTE FUNCTION log_step()`);
  const { id, journal } = await world.engine.worker();
  const row = (number: number, sequence: number, status: "Running" | "Completed"): StepRow => ({
    id: newId(),
    organization_id: tenant.orgId,
    run_id: runId,
    key: `call-1-${number}`,
    step_number: number,
    iteration_number: 1,
    tool_name: "calculate",
    status,
    input: "{}",
    output: status === "Completed" ? "2" : null,
    reasoning: "",
    input_tokens: 0,
    output_tokens: 0,
    actions: 0,
    credits: "0",
    error_message: null,
    attempts: "[]",
    child_run_id: null,
    started_event: null,
    finished_event: null,
    started_at: world.clock.now().toISOString(),
    finished_at: status === "Completed" ? world.clock.now().toISOString() : null,
    duration_ms: status === "Completed" ? 1 : null,
    sequence,
  });
  const write = (...parts: Parameters<typeof row>) => journal.row(row(...parts));
  // The first flush is delayed, so that the other rows share the next one.
  const holder = await world.pool.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT FROM worker_lanes WHERE worker_id = $1 FOR UPDATE", [id]);
  const first = write(9, 1, "Completed");
  const waiting =
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%flush_writes%'";
  await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1);
  const rest = [write(1, 2, "Running"), write(1, 3, "Completed"), write(2, 4, "Running")];
  await holder.query("COMMIT");
  holder.release();
  await Promise.all([first, ...rest]);

  const { rows } = await world.pool.query(
    "SELECT sequence, flush::int AS flush FROM step_log ORDER BY flush, sequence",
  );
  const log = z.array(z.object({ sequence: z.number(), flush: z.number() })).parse(rows);
  expect(log.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
});

it("a process whose worker was replaced still starts and cancels runs, with a new worker", async () => {
  const lost = await loseWorker();
  const { runId } = await start();
  expect((await world.engine.worker()).id).not.toBe(lost);
  await loseWorker();
  await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
  expect((await world.db.run.findUniqueOrThrow({ where: { id: runId } })).status).toBe("Cancelled");
});

it("a worker that was replaced claims nothing", async () => {
  const { runId } = await start();
  const lost = await loseWorker();
  await expect(claimRun(world, { runId }, lost)).rejects.toThrow(WorkerLost);
});
