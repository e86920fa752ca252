import { beforeEach, describe, expect, it } from "vitest";
import { openDatabaseProxy } from "@/testing/servers/database-proxy";
import { createWorld, openWorld } from "@/testing/world";
import { createNotifications, type Notifications } from "./notifications";

const world = await openWorld();
const beside = await openWorld({ beside: world });
beside.notifications.open();
beforeEach(() => expect.poll(() => beside.notifications.fresh()).toBe(true));

function listenTo(topic: Parameters<Notifications["send"]>[0]): { heard: string[]; end: () => void } {
  const heard: string[] = [];
  return { heard, end: beside.notifications.listen(topic, (payload) => heard.push(payload)) };
}

const cut = () =>
  world.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stepwell notifications' AND datname = current_database()",
  );

describe("a notification", () => {
  it("arrives in the other process, only on its topic", async () => {
    const runs = listenTo("run");
    const engine = listenTo("engine");
    world.notifications.send("engine", "waiting", "waiting");
    world.notifications.send("run", "r1", "org:r1:1");
    await expect.poll(() => runs.heard).toEqual(["org:r1:1"]);
    await expect.poll(() => engine.heard).toEqual(["waiting"]);
    runs.end();
    engine.end();
  });

  it("replaces an unsent one with the same key", async () => {
    const { heard, end } = listenTo("run");
    for (let sequence = 1; sequence <= 50; sequence += 1)
      world.notifications.send("run", "r2", `org:r2:${sequence}`);
    world.notifications.send("run", "r3", "org:r3:1");
    await expect.poll(() => heard).toContain("org:r3:1");
    expect(heard).toEqual(["org:r2:50", "org:r3:1"]);
    end();
  });

  it("arrives intact among thousands that are sent at once", async () => {
    const { heard, end } = listenTo("run");
    const sent = Array.from({ length: 2_000 }, (_, n) => `organization-${n}:run-${n}:${n}`);
    for (const payload of sent) world.notifications.send("run", payload, payload);
    await expect.poll(() => heard.length).toBe(sent.length);
    expect(heard).toEqual(sent);
    end();
  });

  it("does not reach a listener that stopped listening", async () => {
    const ended = listenTo("run");
    ended.end();
    const { heard, end } = listenTo("run");
    world.notifications.send("run", "r4", "org:r4:1");
    await expect.poll(() => heard).toEqual(["org:r4:1"]);
    expect(ended.heard).toEqual([]);
    end();
  });
});

describe("the connection", () => {
  it("is stale while interrupted, reconnects, and reports possible loss", async () => {
    const { heard, end } = listenTo("configuration");
    await cut();
    await expect.poll(() => beside.notifications.connected()).toBe(false);
    expect(beside.notifications.fresh()).toBe(false);
    await expect.poll(() => beside.notifications.fresh()).toBe(true);
    expect(heard).toContain("");
    world.notifications.send("configuration", "o", "an-organization");
    await expect.poll(() => heard).toContain("an-organization");
    end();
  });

  it("is stale when its server is silent for longer than a ping", async () => {
    const proxy = await openDatabaseProxy(world.env.databaseUrl);
    const notifications = createNotifications({ url: proxy.url, pool: world.pool, log: world.log });
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    try {
      notifications.open();
      await expect.poll(() => notifications.fresh()).toBe(true);
      proxy.silence(true);
      await expect.poll(() => notifications.fresh()).toBe(false);
      expect(notifications.connected()).toBe(true);
      proxy.silence(false);
      await expect.poll(() => notifications.fresh()).toBe(true);
      // No ping is sent before the last one was answered.
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", onWarning);
      await notifications.close();
      await proxy.close();
    }
  });

  it("is replaced when its server is silent for longer than any response may take", async () => {
    const proxy = await openDatabaseProxy(world.env.databaseUrl);
    const connected = { url: proxy.url, pool: world.pool, log: world.log };
    const notifications = createNotifications({ ...connected, silenceMs: 1_000 });
    try {
      notifications.open();
      await expect.poll(() => notifications.fresh()).toBe(true);
      // Pings keep it open.
      const since = performance.now();
      await expect.poll(() => performance.now() - since).toBeGreaterThan(1_500);
      expect(notifications.fresh()).toBe(true);
      proxy.silence(true);
      await expect.poll(() => notifications.connected()).toBe(false);
      proxy.silence(false);
      await expect.poll(() => notifications.fresh()).toBe(true);
    } finally {
      await notifications.close();
      await proxy.close();
    }
  });

  it("sends gathered notifications before it closes", async () => {
    const short = await createWorld({ beside: world });
    const { heard, end } = listenTo("run");
    short.notifications.send("run", "r5", "org:r5:1");
    await short.close();
    await expect.poll(() => heard).toEqual(["org:r5:1"]);
    end();
  });
});
