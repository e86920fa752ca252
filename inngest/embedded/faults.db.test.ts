import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type OwnPostgres, startOwnPostgres } from "../testing/own-postgres";
import { bundleWorker, startWorker, type WorkerProcess } from "../testing/worker-process";
import { insertEvents, insertRuns, inTransaction } from "./store";

/** Processes that die, freeze and leave, and a database that goes away: nothing finished is done again or lost. */
describe("faults", { timeout: 30_000 }, () => {
  let postgres: OwnPostgres;
  let pool: Pool;
  const workers: WorkerProcess[] = [];

  beforeAll(async () => {
    [postgres] = await Promise.all([startOwnPostgres(), bundleWorker()]);
    pool = new Pool({ ...postgres.connection, max: 5 });
    pool.on("error", () => {});
    await pool.query(`CREATE TABLE effects (
      id bigint GENERATED ALWAYS AS IDENTITY, run text, step text, process text, at timestamptz DEFAULT clock_timestamp())`);
  }, 30_000);

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
  });

  afterAll(async () => {
    await pool?.end();
    await postgres?.stop();
  }, 30_000);

  const begin = async (name: string, { leaseMs = 1_000, pollMs = 100 } = {}) => {
    const worker = await startWorker(postgres, { name, leaseMs, pollMs });
    workers.push(worker);
    return worker;
  };

  /** Starts a run as a process that sends but does not run would. */
  async function start(run: string, steps: number, stepMs: number): Promise<void> {
    const now = new Date();
    const event = { id: run, name: "work/go", data: { run, steps, stepMs }, ts: now.getTime() };
    const first = { id: crypto.randomUUID(), functionId: "app-work", event, limitKeys: [], parent: null };
    await inTransaction(pool, async (tx) => {
      await insertEvents(tx, [event], now);
      await insertRuns(tx, [first], now);
    });
    await pool.query("NOTIFY engine");
  }

  async function effects(run: string): Promise<{ step: string; process: string }[]> {
    const { rows } = await pool.query("SELECT step, process FROM effects WHERE run = $1 ORDER BY id", [run]);
    return rows;
  }

  const reached = (run: string, step: string) =>
    vi.waitFor(async () => expect((await effects(run)).map((effect) => effect.step)).toContain(step), {
      timeout: 20_000,
      interval: 20,
    });

  /** How often each step ran, in the order in which they first ran. */
  const counts = async (run: string) => {
    const tally = new Map<string, number>();
    for (const { step } of await effects(run)) tally.set(step, (tally.get(step) ?? 0) + 1);
    return Object.fromEntries(tally);
  };

  const status = async (run: string) =>
    (await pool.query("SELECT status FROM engine.runs WHERE event_id = $1", [run])).rows[0]?.status;

  test("kill -9 in the middle of a step: another process goes on, and only that step runs again", async () => {
    const first = await begin("first");
    await start("killed", 5, 300);
    await reached("killed", "step-3");
    await first.kill();
    await begin("second");
    await reached("killed", "end");
    expect(await counts("killed")).toEqual({
      "step-1": 1,
      "step-2": 1,
      "step-3": 2,
      "step-4": 1,
      "step-5": 1,
      end: 1,
    });
    expect(
      (await effects("killed")).filter((one) => one.process === "second").map((one) => one.step),
    ).toEqual(["step-3", "step-4", "step-5", "end"]);
  });

  test("a step that kills its process every time fails its run after its attempts, and onFailure is called", async () => {
    await start("poison", 1, 60_000);
    for (let attempt = 1; attempt <= 4; attempt++) {
      const worker = await begin(`victim-${attempt}`, { leaseMs: 200, pollMs: 50 });
      await vi.waitFor(async () => expect(await effects("poison")).toHaveLength(attempt), {
        timeout: 10_000,
      });
      await worker.kill();
    }
    await begin("survivor", { leaseMs: 200, pollMs: 50 });
    await reached("poison", "onFailure");
    expect(await counts("poison")).toEqual({ "step-1": 4, onFailure: 1 });
  });

  test("an immediate restart of Postgres: the process lives, goes on within seconds, and repeats no finished step", async () => {
    const worker = await begin("steady", { leaseMs: 15_000, pollMs: 5_000 });
    await start("restarted", 8, 250);
    await reached("restarted", "step-2");
    await postgres.restart({ awayMs: 700 });
    const back = Date.now();
    await reached("restarted", "end");
    expect(worker.alive()).toBe(true);
    const { end, ...steps } = await counts("restarted");
    expect(end).toBe(1);
    // The step in flight saves its result once the database is back, so that not even it need run again; it does only
    // when its own statement was cut off.
    expect(Object.values(steps).reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(9);
    expect(Date.now() - back).toBeLessThan(10_000);
    await start("afterwards", 1, 0);
    await reached("afterwards", "end");
  });

  test("an outage longer than the lease: the process does not take its own job from itself", async () => {
    const worker = await begin("patient", { leaseMs: 400, pollMs: 100 });
    await start("outlasted", 3, 800);
    await reached("outlasted", "step-2");
    await postgres.restart({ awayMs: 1_500 });
    await reached("outlasted", "end");
    expect(worker.alive()).toBe(true);
    expect(await counts("outlasted")).toEqual({ "step-1": 1, "step-2": 1, "step-3": 1, end: 1 });
  });

  test("a step that takes longer than the lease stays with the process that is alive", async () => {
    await Promise.all([begin("one", { leaseMs: 1_200 }), begin("two", { leaseMs: 1_200 })]);
    await start("long", 1, 3_000);
    await reached("long", "end");
    expect(await counts("long")).toEqual({ "step-1": 1, end: 1 });
  });

  test("a process frozen past its lease finds itself replaced, and what it still says is refused", async () => {
    const frozen = await begin("frozen", { leaseMs: 1_500 });
    await start("frozen", 4, 300);
    await reached("frozen", "step-2");
    frozen.signal("SIGSTOP");
    // Its own lease is long: a busy machine must not give the run back to the one that was frozen.
    await begin("other", { leaseMs: 15_000 });
    await vi.waitFor(
      async () => expect((await effects("frozen")).some((one) => one.process === "other")).toBe(true),
      { timeout: 10_000, interval: 20 },
    );
    frozen.signal("SIGCONT");
    await reached("frozen", "end");
    await vi.waitFor(async () => expect(await status("frozen")).toBe("completed"), { timeout: 5_000 });
    expect(await counts("frozen")).toEqual({ "step-1": 1, "step-2": 2, "step-3": 1, "step-4": 1, end: 1 });
    expect((await effects("frozen")).slice(2).every((one) => one.process === "other")).toBe(true);
  });

  test("a process asked to stop gives its run away at the next step, long before its lease ends", async () => {
    const leaving = await begin("leaving", { leaseMs: 60_000, pollMs: 60_000 });
    const staying = await begin("staying", { leaseMs: 60_000, pollMs: 60_000 });
    await start("handed", 6, 300);
    await reached("handed", "step-2");
    const [first] = await effects("handed");
    const [holder, heir] = first?.process === "leaving" ? [leaving, "staying"] : [staying, "leaving"];
    expect(await holder.terminate()).toBe(0);
    await reached("handed", "end");
    const all = await effects("handed");
    expect(all.map((one) => one.step)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `step-${n}`).concat("end"));
    expect(all.at(-1)?.process).toBe(heir);
  });

  test("two processes share a burst: every step of every run once, both of them working", async () => {
    await Promise.all([begin("left", { leaseMs: 15_000 }), begin("right", { leaseMs: 15_000 })]);
    const runs = Array.from({ length: 60 }, (_, i) => `shared-${i}`);
    await Promise.all(runs.map((run) => start(run, 2, 20)));
    await vi.waitFor(
      async () => {
        const { rows } = await pool.query(
          "SELECT count(*) AS n FROM effects WHERE run LIKE 'shared-%' AND step = 'end'",
        );
        expect(Number(rows[0].n)).toBe(60);
      },
      { timeout: 20_000, interval: 50 },
    );
    const { rows } = await pool.query(
      "SELECT count(*) AS n, count(DISTINCT (run, step)) AS distinct, count(DISTINCT process) AS processes FROM effects WHERE run LIKE 'shared-%'",
    );
    expect(rows[0]).toEqual({ n: "180", distinct: "180", processes: "2" });
  });
});
