import { type Inngest, type InngestFunction, referenceFunction } from "inngest";
import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { testClock } from "@/server/testing/clock";
import { createTestDatabase, type TestDatabase } from "@/server/testing/database";
import { testLogger } from "@/server/testing/log";
import { until } from "../engine-suite";
import { openApp } from "../testing/embedded-app";
import { createEmbeddedEngine, type EmbeddedEngine, type EmbeddedEngineOptions } from "./engine";
import { claim, extendLeases, recall, releaseLeases, saveCheckpoint } from "./leases";
import { insertSteps, inTransaction, prune, retryJob, takeJob } from "./store";

/** What only the embedded engine promises, and what one has to reach below the SDK to try. */
describe("the embedded engine's guarantees", { timeout: 20_000 }, () => {
  let database: TestDatabase;
  let pool: Pool;
  let apps = 0;
  const engines: EmbeddedEngine[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new Pool({ connectionString: database.url, max: 20 });
  }, 30_000);

  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.stop(0)));
    await pool.query("TRUNCATE engine.events, engine.runs CASCADE");
  });

  afterAll(async () => {
    await pool?.end();
    await database?.drop();
  }, 30_000);

  async function open(
    define: (client: Inngest) => InngestFunction.Any[],
    options: Partial<EmbeddedEngineOptions> & { id?: string } = {},
  ) {
    const { id = `app${++apps}`, ...rest } = options;
    const app = await openApp(pool, { connectionString: database.url }, id, define, { pollMs: 200, ...rest });
    engines.push(app.engine);
    return app;
  }

  const sole = async (text: string, ...values: unknown[]) => (await pool.query(text, values)).rows[0];
  const runs = async () => (await pool.query("SELECT status, result FROM engine.runs ORDER BY id")).rows;

  const post = (engine: EmbeddedEngine, path: string, body: unknown) =>
    engine.fetch(`http://engine.local${path}`, { method: "POST", body: JSON.stringify(body) });

  describe("registration", () => {
    test.each([
      ["debounce", { debounce: { period: "1s" } }],
      ["throttle", { throttle: { limit: 1, period: "1s" } }],
      ["rateLimit", { rateLimit: { limit: 1, period: "1s" } }],
      ["batchEvents", { batchEvents: { maxSize: 2, timeout: "1s" } }],
      ["priority", { priority: { run: "1" } }],
      ["idempotency", { idempotency: "event.data.id" }],
      ["timeouts", { timeouts: { finish: "1m" } }],
      ["singleton", { singleton: { mode: "skip" } }],
      ["cron", { triggers: { cron: "* * * * *" } }],
      ["concurrency", { concurrency: { limit: 1, scope: "account", key: "'x'" } }],
    ] as const)("refuses the option %s by name, and the function with it", async (option, config) => {
      const opening = open((app) => [
        app.createFunction({ id: "f", triggers: { event: "go" }, ...config } as never, () => {}),
      ]);
      await expect(opening).rejects.toThrow(new RegExp(`"app\\d+-f".*${option}`));
    });

    test.each([
      ["cancelOn", { triggers: { event: "go" }, cancelOn: [{ event: "stop", if: "event.data.id ==" }] }],
      ["a trigger", { triggers: { event: "go", if: "nobody.knows == 1" } }],
      ["concurrency", { triggers: { event: "go" }, concurrency: { limit: 1, key: "event.data." } }],
    ])("refuses an expression of %s that does not parse or speaks of unknown things", async (_, config) => {
      const opening = open((app) => [app.createFunction({ id: "f", ...config }, () => {})]);
      await expect(opening).rejects.toThrow(/expression/);
    });
  });

  test("an event sent before functions are registered is refused, not lost", async () => {
    const engine = createEmbeddedEngine({
      pool,
      listenConfig: { connectionString: database.url },
      clock: testClock(),
      log: testLogger(),
    });
    const response = await post(engine, "/e/key", [{ name: "go", data: {} }]);
    expect(response.status).toBe(500);
    expect(await sole("SELECT count(*)::int AS n FROM engine.events")).toEqual({ n: 0 });
  });

  test("endpoints of the server that the engine lacks answer 404 and say so", async () => {
    const { engine } = await open(() => []);
    const response = await post(engine, "/v1/signals", {});
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: "The embedded engine does not implement POST /v1/signals.",
      status: 404,
    });
    expect((await post(engine, "/e/key", [{ data: {} }])).status).toBe(400);
  });

  test("a stale call is refused: its checkpoint gets 409, its answer is dropped, nothing of either is written", async () => {
    let release = () => {};
    const ran: string[] = [];
    const { engine, client, log } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, async ({ step }) => {
        await step.run("slow", async () => {
          ran.push("slow");
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          return "stale";
        });
      }),
    ]);
    await engine.start();
    await client.send({ name: "go" });
    await until(() => ran.length === 1);
    const job = await sole("SELECT id, run_id, generation FROM engine.jobs");
    // As another process would that found the lease over: claimed, never to answer.
    await pool.query(
      "UPDATE engine.jobs SET generation = generation + 1, due_at = now() + interval '1 hour'",
    );

    const step = { id: "forged", op: "StepRun", displayName: "forged", data: 1 };
    const checkpoint = { run_id: job.run_id, fn_id: "f", qi_id: job.id, steps: [step] };
    const path = `/v1/checkpoint/${job.run_id}/async`;
    expect((await post(engine, path, { ...checkpoint, generation_id: job.generation })).status).toBe(409);
    release();
    await until(() => log.entries.some((entry) => entry.message === "dropped the answer of a stale call"));
    expect(await sole("SELECT count(*)::int AS n FROM engine.steps")).toEqual({ n: 0 });
    expect(await runs()).toEqual([{ status: "running", result: null }]);

    // The same checkpoint from the holder is taken, so it was the generation that refused it.
    expect((await post(engine, path, { ...checkpoint, generation_id: job.generation + 1 })).status).toBe(200);
    expect(await sole("SELECT count(*)::int AS n FROM engine.steps")).toEqual({ n: 1 });
  });

  test("who lost a lease can neither extend it nor give the job back, end it or put it off", async () => {
    const { client } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, () => {}),
    ]);
    await client.send({ name: "go" });
    const due = { now: new Date(), leaseMs: 60_000, count: 1, except: [] };
    const [stale] = await claim(pool, [`${client.id}-f`], due);
    await pool.query("UPDATE engine.jobs SET due_at = now() - interval '1 second'");
    const [held] = await claim(pool, [`${client.id}-f`], due);
    if (stale === undefined || held === undefined) throw new Error("the job was not claimed twice");
    const row = () => sole("SELECT generation, claimed, attempt, due_at FROM engine.jobs");
    const before = await row();

    expect(await extendLeases(pool, [stale], 120_000)).toEqual(new Set());
    await releaseLeases(pool, [stale], new Date());
    const late = await inTransaction(pool, async (tx) => [
      await retryJob(tx, stale, new Date()),
      await takeJob(tx, stale),
    ]);
    expect(late).toEqual([false, null]);
    expect(await row()).toEqual(before);

    // It was the generation that refused all that: the holder may.
    expect(await extendLeases(pool, [held], 120_000)).toEqual(new Set([held.id]));
    await releaseLeases(pool, [held], new Date());
    expect(await row()).toMatchObject({ claimed: false });
  });

  test("a step keeps its first result, whoever reports another one later", async () => {
    const { client } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, () => {}),
    ]);
    await client.send({ name: "go" });
    const { id, run_id: runId } = await sole("SELECT id, run_id FROM engine.jobs");
    const told = (data: string) => [{ id: "a", name: "a", state: { type: "data", data } as const }];
    await inTransaction(pool, (tx) => insertSteps(tx, runId, told("first")));
    await inTransaction(pool, (tx) => insertSteps(tx, runId, told("second")));
    await claim(pool, [`${client.id}-f`], { now: new Date(), leaseMs: 60_000, count: 1, except: [] });
    expect(await saveCheckpoint(pool, { id, generation: 1 }, told("third"))).toBe(true);
    expect((await recall(pool, [runId])).get(runId)?.memo).toEqual([
      { id: "a", state: { type: "data", data: "first" } },
    ]);
  });

  test("a process that stops in the middle of a step gives its job back at once, and it counts as no attempt", async () => {
    let begun = false;
    let release = () => {};
    const { engine, client } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, async ({ step }) => {
        await step.run("slow", async () => {
          begun = true;
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        });
      }),
    ]);
    await engine.start();
    await client.send({ name: "go" });
    await until(() => begun);
    await engine.stop(0);
    expect(await sole("SELECT claimed, attempt, due_at <= now() AS due FROM engine.jobs")).toEqual({
      claimed: false,
      attempt: 0,
      due: true,
    });
    release();
  });

  test("a step's result and the job that follows are committed together or not at all", async () => {
    // The insert of the sleep's job fails; the steps reported with it must not be remembered without it.
    await pool.query(`CREATE FUNCTION engine.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'no more jobs'; END $$`);
    await pool.query(`CREATE TRIGGER refuse BEFORE INSERT ON engine.jobs
      FOR EACH ROW WHEN (NEW.kind = 'discover' AND NEW.attempt = 0 AND NEW.step_id = 'step') EXECUTE FUNCTION engine.refuse()`);
    await pool.query("ALTER TABLE engine.jobs DISABLE TRIGGER refuse");
    try {
      const ran: string[] = [];
      const { engine, client } = await open((app) => [
        app.createFunction({ id: "f", triggers: { event: "go" }, checkpointing: false }, async ({ step }) => {
          await step.run("a", async () => {
            ran.push("a");
            if (ran.length === 1) await pool.query("ALTER TABLE engine.jobs ENABLE TRIGGER refuse");
          });
          await step.run("b", () => ran.push("b"));
        }),
      ]);
      await engine.start();
      await client.send({ name: "go" });
      // The call's outcome cannot be written, so it counts as failed and comes back.
      await until(() => ran.length >= 2);
      const { n } = await sole("SELECT count(*)::int AS n FROM engine.steps");
      await pool.query("ALTER TABLE engine.jobs DISABLE TRIGGER refuse");
      await until(() => ran.includes("b"));
      expect(n).toBe(0);
      await vi.waitFor(async () => expect((await runs())[0]?.status).toBe("completed"));
    } finally {
      await pool.query("DROP FUNCTION engine.refuse CASCADE");
    }
  });

  test("parallel steps that finish at the same moment on two engines never leave their run behind", async () => {
    const done: unknown[] = [];
    const ran: string[] = [];
    const define = (app: Inngest) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, async ({ step, event }) => {
        const ids = ["a", "b", "c", "d"];
        await Promise.all(ids.map((id) => step.run(id, () => ran.push(`${event.data.n} ${id}`))));
        await step.run("end", () => done.push(event.data.n));
      }),
    ];
    const { client, engine } = await open(define, { id: "shared", pollMs: 60_000 });
    const other = await open(define, { id: "shared", pollMs: 60_000 });
    await Promise.all([engine.start(), other.engine.start()]);
    await client.send(Array.from({ length: 40 }, (_, n) => ({ name: "go", data: { n } })));
    await until(() => done.length === 40);
    expect(new Set(done).size).toBe(40);
    expect(new Set(ran).size).toBe(160);
    expect(ran).toHaveLength(160);
  });

  test("what lost a race holds up nothing that follows, alone or in parallel, and runs once though still under way", async () => {
    const ran: string[] = [];
    let release = () => {};
    const { engine, client } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, async ({ step, group }) => {
        const winner = await group.parallel({ mode: "race" }, () =>
          Promise.race([
            step.run("quick", () => "quick"),
            step.sleep("asleep", "1h"),
            step.run("slow", async () => {
              ran.push("slow");
              await new Promise<void>((resolve) => {
                release = resolve;
              });
            }),
          ]),
        );
        await step.run("after", () => ran.push(`after ${winner}`));
        await Promise.all(["a", "b"].map((id) => step.run(id, () => ran.push(id))));
        await step.run("let go", () => release());
        await step.sleep("pause", "1s");
        await step.run("end", () => ran.push("end"));
      }),
    ]);
    await engine.start();
    await client.send({ name: "go" });
    await until(() => ran.includes("end"));
    expect(ran.filter((step) => step === "slow")).toHaveLength(1);
    const [after, ...rest] = ran.filter((step) => step !== "slow");
    expect([after, ...rest.slice(0, 2).toSorted(), ...rest.slice(2)]).toEqual([
      "after quick",
      "a",
      "b",
      "end",
    ]);
    // The SDK itself keeps a run open until all its steps are settled: the sleep that lost is all that is left.
    await vi.waitFor(async () =>
      expect((await pool.query("SELECT step_name FROM engine.jobs")).rows).toEqual([{ step_name: "asleep" }]),
    );
  });

  test("a step that finishes while its run is being discovered is not overlooked, and not run again", async () => {
    const ran: string[] = [];
    let secondBegun = false;
    let firstDone = false;
    let discovering = false;
    const { engine, client } = await open((app) => [
      app.createFunction(
        { id: "f", optimizeParallelism: false, triggers: { event: "go" } },
        async ({ step }) => {
          if (firstDone && !discovering) {
            // The discovery that follows "first" knows nothing of "second", and answers when that is written down.
            discovering = true;
            await vi.waitFor(async () =>
              expect(
                (await pool.query("SELECT 1 FROM engine.steps WHERE name = 'second'")).rows,
              ).toHaveLength(1),
            );
          }
          await Promise.all([
            step.run("first", async () => {
              await until(() => secondBegun);
              firstDone = true;
            }),
            step
              .run("second", async () => {
                ran.push("second");
                secondBegun = true;
                await until(() => discovering);
              })
              .then(() => step.run("after second", () => ran.push("after second"))),
            step.sleep("third", "1h"),
          ]);
        },
      ),
    ]);
    await engine.start();
    await client.send({ name: "go" });
    await until(() => ran.includes("after second"));
    expect(ran).toEqual(["second", "after second"]);
  });

  test("a discovery beside a step under way does not run that step itself", async () => {
    const ran: string[] = [];
    let ended = false;
    const { engine, client } = await open((app) => [
      app.createFunction(
        { id: "f", optimizeParallelism: false, triggers: { event: "go" } },
        async ({ step }) => {
          await Promise.all([
            step.run("quick", () => ran.push("quick")),
            step.run("slow", async () => {
              ran.push("slow");
              // Until the discovery that follows "quick" has come and gone, leaving this job alone.
              await vi.waitFor(async () => {
                const { rows } = await pool.query("SELECT step_name, generation FROM engine.jobs");
                expect(rows).toEqual([{ step_name: "slow", generation: 1 }]);
              });
            }),
          ]);
          ended = true;
        },
      ),
    ]);
    await engine.start();
    await client.send({ name: "go" });
    await until(() => ended);
    expect(ran.toSorted()).toEqual(["quick", "slow"]);
  });

  test("a process that fell behind its own lease does not take its job from itself", async () => {
    const ran: string[] = [];
    let release = () => {};
    const { engine, client } = await open(
      (app) => [
        app.createFunction({ id: "f", triggers: { event: "go" } }, async ({ step }) => {
          await step.run("slow", async () => {
            ran.push("slow");
            await new Promise<void>((resolve) => {
              release = resolve;
            });
          });
        }),
        app.createFunction({ id: "g", triggers: { event: "look" } }, ({ step }) =>
          step.run("g", () => ran.push("g")),
        ),
      ],
      { pollMs: 20 },
    );
    await engine.start();
    await client.send({ name: "go" });
    await until(() => ran.length === 1);
    await pool.query("UPDATE engine.jobs SET due_at = now() - interval '1 minute'");
    await client.send({ name: "look" });
    await until(() => ran.includes("g"));
    release();
    await vi.waitFor(async () =>
      expect((await runs()).map((run) => run.status)).toEqual(["completed", "completed"]),
    );
    expect(ran).toEqual(["slow", "g"]);
  });

  test("a run longer than the SDK's time for one call goes on in the next, each step once", async () => {
    const ran: number[] = [];
    const { engine, client } = await open((app) => [
      app.createFunction(
        { id: "f", checkpointing: { maxRuntime: 50 }, triggers: { event: "go" } },
        async ({ step }) => {
          for (let n = 0; n < 6; n++) {
            await step.run(`step-${n}`, async () => {
              ran.push(n);
              await new Promise((resolve) => setTimeout(resolve, 40));
            });
          }
        },
      ),
    ]);
    await engine.start();
    await client.send({ name: "go" });
    await vi.waitFor(async () => expect((await runs())[0]?.status).toBe("completed"), { timeout: 5_000 });
    expect(ran).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("concurrency by key is exact across engines", async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    const define = (app: Inngest) => [
      app.createFunction(
        { id: "f", triggers: { event: "go" }, concurrency: { limit: 2, key: "event.data.key" } },
        async ({ step }) => {
          await step.run("work", async () => {
            most = Math.max(most, ++running);
            await new Promise((resolve) => setTimeout(resolve, 15));
            running--;
          });
          await step.run("end", () => done++);
        },
      ),
    ];
    const { client, engine } = await open(define, { id: "limited" });
    const other = await open(define, { id: "limited" });
    await Promise.all([engine.start(), other.engine.start()]);
    await client.send(Array.from({ length: 30 }, () => ({ name: "go", data: { key: "one" } })));
    await until(() => done === 30);
    expect(most).toBe(2);
  });

  test("an id sent many times at once, in one batch or several, starts one run", async () => {
    let started = 0;
    const { engine, client } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, () => {
        started++;
      }),
    ]);
    const event = { id: "same", name: "go", data: {} };
    const sent = await Promise.all([client.send([event, event]), client.send(event), client.send(event)]);
    expect(sent.map(({ ids }) => new Set(ids))).toEqual([
      new Set(["same"]),
      new Set(["same"]),
      new Set(["same"]),
    ]);
    await engine.start();
    await until(() => started > 0);
    await vi.waitFor(async () =>
      expect(await engine.findRuns("same")).toMatchObject([{ status: "completed" }]),
    );
    expect(started).toBe(1);
  });

  test("a send that the SDK repeats because it missed the answer is one send", async () => {
    const { engine } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, () => {}),
    ]);
    const send = () =>
      engine.fetch("http://engine.local/e/key", {
        method: "POST",
        headers: { "x-inngest-event-id-seed": "1,seed" },
        body: JSON.stringify([{ name: "go" }, { name: "go" }]),
      });
    const [first, second] = [await (await send()).json(), await (await send()).json()];
    expect(first.ids).toHaveLength(2);
    expect(second).toEqual(first);
    expect(await runs()).toHaveLength(2);
  });

  test("cancelRun ends a run at once; a call under way stops at its next checkpoint, and onFailure is not called", async () => {
    const ran: string[] = [];
    let release = () => {};
    const { engine, client } = await open((app) => [
      app.createFunction(
        { id: "f", triggers: { event: "go" }, onFailure: () => void ran.push("onFailure") },
        async ({ step }) => {
          await step.run("one", async () => {
            ran.push("one");
            await new Promise<void>((resolve) => {
              release = resolve;
            });
          });
          await step.run("two", () => ran.push("two"));
        },
      ),
      app.createFunction({ id: "parent", triggers: [] }, () => {}),
    ]);
    await engine.start();
    const { ids } = await client.send({ name: "go" });
    await until(() => ran.length === 1);
    const [run] = await engine.findRuns(ids[0] ?? "");
    expect(await engine.cancelRun(run?.id ?? "")).toBe(true);
    expect(await engine.cancelRun(run?.id ?? "")).toBe(false);
    expect(await engine.findRuns(ids[0] ?? "")).toMatchObject([{ status: "cancelled" }]);
    release();
    await engine.stop();
    expect(ran).toEqual(["one"]);
    expect(await sole("SELECT count(*)::int AS n FROM engine.jobs")).toEqual({ n: 0 });
  });

  test("sleeps, timeouts and cancelOn's timeout follow the clock that is given", async () => {
    const clock = testClock("2026-01-01T00:00:00Z");
    const seen: unknown[] = [];
    const { engine, client } = await open(
      (app) => [
        app.createFunction(
          { id: "f", triggers: { event: "go" }, cancelOn: [{ event: "stop", timeout: "1h" }] },
          async ({ step }) => {
            await step.sleep("month", "30d");
            seen.push("slept");
            const answer = await step.waitForEvent("answer", { event: "answer", timeout: "7d" });
            seen.push(answer);
            await step.sleepUntil("spring", "2026-03-20T00:00:00Z");
            seen.push("spring");
          },
        ),
      ],
      { clock, pollMs: 20 },
    );
    await engine.start();
    await client.send({ name: "go" });
    const waitsFor = (kind: string) =>
      vi.waitFor(async () => expect((await sole("SELECT kind FROM engine.jobs"))?.kind).toBe(kind));
    await waitsFor("sleep");
    clock.advance(2 * 3_600_000);
    // An hour and more after the start, cancelOn has run out.
    await client.send({ name: "stop" });
    clock.set("2026-01-31T00:00:01Z");
    await waitsFor("event");
    clock.advance(7 * 86_400_000 + 1_000);
    await waitsFor("sleep");
    clock.set("2026-03-20T00:00:00Z");
    await until(() => seen.includes("spring"));
    expect([...new Set(seen)]).toEqual(["slept", null, "spring"]);
  });

  test("an invocation that takes longer than its timeout fails in its caller, and so does one of a function nobody has", async () => {
    const clock = testClock();
    let result: unknown;
    const { engine, client } = await open(
      (app) => {
        const slow = app.createFunction({ id: "slow", triggers: [] }, ({ step }) => step.sleep("long", "1d"));
        return [
          slow,
          app.createFunction({ id: "f", triggers: { event: "go" } }, async ({ step }) => {
            const late = await step
              .invoke("late", { function: slow, timeout: "1m" })
              .catch((e: Error) => e.message);
            const unknown = referenceFunction({ functionId: "nobody" });
            const lost = await step.invoke("lost", { function: unknown }).catch((e: Error) => e.message);
            result = { late, lost };
          }),
        ];
      },
      { clock, pollMs: 20 },
    );
    await engine.start();
    await client.send({ name: "go" });
    await vi.waitFor(async () =>
      expect(
        await sole("SELECT count(*)::int AS n FROM engine.jobs WHERE NOT claimed AND kind <> 'discover'"),
      ).toEqual({ n: 2 }),
    );
    clock.advance(61_000);
    await until(() => result);
    expect(result).toEqual({
      late: '"late" took longer than its timeout.',
      lost: `There is no function "${client.id}-nobody" to invoke.`,
    });
  });

  test("an operation that the engine does not implement fails the run and names itself", async () => {
    const { engine, client } = await open((app) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, ({ step }) =>
        step.waitForSignal("signal", { signal: "s", timeout: "1m" }),
      ),
    ]);
    await engine.start();
    await client.send({ name: "go" });
    await vi.waitFor(async () => expect((await runs())[0]?.status).toBe("failed"));
    expect(JSON.parse((await runs())[0]?.result)).toMatchObject({
      message: 'The embedded engine does not implement the operation WaitForSignal (step "signal").',
    });
  });

  test("finished runs and old event ids are forgotten after their time, unfinished runs never", async () => {
    const clock = testClock("2026-01-01T00:00:00Z");
    const { engine, client } = await open(
      (app) => [
        app.createFunction({ id: "quick", triggers: { event: "quick" } }, ({ step }) =>
          step.run("a", () => 1),
        ),
        app.createFunction({ id: "long", triggers: { event: "long" } }, ({ step }) => step.sleep("a", "52w")),
      ],
      { clock },
    );
    await engine.start();
    await client.send([
      { id: "q", name: "quick" },
      { id: "l", name: "long" },
    ]);
    await vi.waitFor(async () => {
      expect(await engine.findRuns("q")).toMatchObject([{ status: "completed" }]);
      // Nobody works on the other one any more either: pruning would leave alone what is locked.
      expect(await sole("SELECT kind, claimed FROM engine.jobs")).toEqual({ kind: "sleep", claimed: false });
    });
    const at = new Date("2026-01-02T00:00:00Z");
    expect(await prune(pool, new Date("2025-12-31T23:59:59Z"), new Date("2025-12-31T23:59:59Z"), 10)).toBe(0);
    expect(await prune(pool, at, at, 10)).toBe(3);
    expect(await engine.findRuns("q")).toEqual([]);
    expect(await engine.findRuns("l")).toMatchObject([{ status: "running" }]);
    expect(
      await sole(
        "SELECT (SELECT count(*) FROM engine.steps)::int AS steps, (SELECT count(*) FROM engine.events)::int AS events",
      ),
    ).toEqual({ steps: 0, events: 0 });
  });

  test("work that another process announces is heard at once, also after the connection that listens was lost", async () => {
    const ran: unknown[] = [];
    const define = (app: Inngest) => [
      app.createFunction({ id: "f", triggers: { event: "go" } }, ({ event }) => {
        ran.push(event.data.n);
      }),
    ];
    const { engine } = await open(define, { id: "heard", pollMs: 60_000 });
    const sender = await open(define, { id: "heard" });
    await engine.start();
    const listener = () =>
      vi.waitFor(async () => {
        const row = await sole(
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN engine'",
        );
        expect(row).toBeDefined();
        return row.pid;
      });
    const first = await listener();
    await sender.client.send({ name: "go", data: { n: 1 } });
    await until(() => ran.length === 1);
    await pool.query("SELECT pg_terminate_backend($1)", [first]);
    await vi.waitFor(async () => expect(await listener()).not.toBe(first), { timeout: 5_000 });
    await sender.client.send({ name: "go", data: { n: 2 } });
    await until(() => ran.length === 2);
    expect(ran).toEqual([1, 2]);
  });

  test("ready says whether jobs are being claimed", async () => {
    const { engine } = await open(() => []);
    expect(await engine.ready()).toBe(false);
    await engine.start();
    await vi.waitFor(async () => expect(await engine.ready()).toBe(true));
    await engine.stop();
    expect(await engine.ready()).toBe(false);
  });
});
