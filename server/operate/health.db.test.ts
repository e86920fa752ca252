import { expect, onTestFinished, test } from "vitest";
import { checkReadiness, waitUntilReady } from "@/server/operate/health";
import { startRun } from "@/server/runs/start";
import { createProcess } from "@/testing/process";
import { EVENT_KEY, openInTest, SIGNING_KEY } from "@/testing/servers/inngest-server";
import { createTenant, openWorld } from "@/testing/world";

const world = await openWorld();

function withEngine(isReady: (poll: number) => boolean) {
  let poll = 0;
  const ready = async () => {
    poll += 1;
    return isReady(poll);
  };
  const canWrite = () => world.engine.canWrite();
  return { ...world, engine: { ...world.engine, canWrite, ready }, polls: () => poll };
}

test("a process is ready once its engine is", async () => {
  const services = withEngine((poll) => poll === 3);
  expect(await waitUntilReady(services, () => {}, new AbortController().signal)).toBe(true);
  expect(services.polls()).toBe(3);
});

test("the wait ends when the process is stopped", async () => {
  const ending = new AbortController();
  const services = withEngine((poll) => {
    if (poll === 2) ending.abort();
    return false;
  });
  expect(await waitUntilReady(services, () => {}, ending.signal)).toBe(false);
});

test.each([
  [EVENT_KEY, SIGNING_KEY, { address: "ok", eventKey: "ok", signingKey: "ok" }],
  ["another", SIGNING_KEY, { address: "ok", eventKey: "rejected", signingKey: "ok" }],
  [EVENT_KEY, "abcd", { address: "ok", eventKey: "ok", signingKey: "rejected" }],
])(
  "a process on an Inngest server with the keys %s and %s names the wrong one",
  async (eventKey, signingKey, inngest) => {
    const services = withEngine(() => true);
    const { url } = await openInTest();
    services.env = {
      ...world.env,
      inngest: { dev: undefined, baseUrl: url, eventKey, signingKey, serveOrigin: "http://stepwell.test" },
    };
    const ready = inngest.eventKey === "ok" && inngest.signingKey === "ok";
    expect(await checkReadiness(services)).toEqual({ ready, database: "ok", engine: "ok", inngest });
  },
);

test("a process is not ready for 10 s after the database could not store a start", async () => {
  const services = withEngine(() => true);
  const tenant = await createTenant(world);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const start = () => startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" });
  await world.pool.query(`
    CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER fill_disk BEFORE INSERT ON runs EXECUTE FUNCTION fill_disk()`);
  await expect(start()).rejects.toMatchObject({ code: "53100" });
  expect(await checkReadiness(services)).toEqual({ ready: false, database: "rejects writes", engine: "ok" });

  await world.pool.query("DROP TRIGGER fill_disk ON runs");
  world.clock.advance(9_000);
  expect((await checkReadiness(services)).ready).toBe(false);
  world.clock.advance(2_000);
  expect(await checkReadiness(services)).toEqual({ ready: true, database: "ok", engine: "ok" });
  await start();
});

test("a process is not ready while the database stores no heartbeats", async () => {
  const process = createProcess(world);
  onTestFinished(() => process.stop());
  await process.engine.execute();
  const database = async () => (await checkReadiness(process)).database;
  await expect.poll(database).toBe("ok");
  const name = new URL(world.env.databaseUrl).pathname.slice(1);
  const closeOthers =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()";
  await world.pool.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  onTestFinished(async () => {
    await world.pool.query(`SET default_transaction_read_only = off; ALTER DATABASE "${name}" RESET ALL`);
    // A connection keeps the setting that it was opened with.
    await world.pool.query(closeOthers);
  });
  await world.pool.query(closeOthers);
  await expect.poll(database).toBe("rejects writes");
});

test("a process that only serves does not ask the Inngest server", async () => {
  const services = withEngine(() => false);
  services.env = {
    ...world.env,
    role: "web",
    inngest: {
      dev: undefined,
      baseUrl: "http://127.0.0.1:9",
      eventKey: "key",
      signingKey: "abcd",
      serveOrigin: "http://stepwell.test",
    },
  };
  // The database has just accepted no writes.
  await expect.poll(() => checkReadiness(services)).toEqual({ ready: true, database: "ok", engine: "ok" });
});
