import { describe, expect, it } from "vitest";
import { runDueSchedules } from "@/server/runs/schedules/timer";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { createTenant, createTrigger, openWorld } from "@/testing/world";

/** Schedules and callbacks by API key; change-definitions.db.test.ts has what they share with agents and tools. */

const world = await openWorld();
const { call } = await openRestServer(world);
const plan = { readsPerMinute: null, startsPerMinute: null };
const tenant = await createTenant(world, { plan });
const key = await createKey(world, tenant);
const other = await createTenant(world, { plan });
const othersKey = await createKey(world, other);
const limited = await createKey(world, tenant, { targetIds: [tenant.toolId] });

type Headers = Record<string, string>;
const get = (path: string, by = key) => call(path, { key: by });
const post = (path: string, body: unknown, by = key) => call(path, { method: "POST", key: by, body });
const patch = (path: string, body: unknown, by = key, headers: Headers = {}) =>
  call(path, { method: "PATCH", key: by, body, headers });
const remove = (path: string, by = key) => call(path, { method: "DELETE", key: by });
const slugs = async (path: string, by = key) =>
  (await get(path, by)).body.data.map(({ slug }: { slug: string }) => slug);
const audited = async (subjectId: string) =>
  (await world.db.auditEntry.findMany({ where: { subjectId }, orderBy: { id: "asc" } })).map(
    ({ action, actorName }) => `${action} by ${actorName}`,
  );

const MORNING = { slug: "morning", agent: "helper", cron: "0 8 * * MON-FRI", message: "Summarize." };

describe("schedules", () => {
  it("are created with their next time, changed, paused and archived, each by the key", async () => {
    const created = await post("/v1/schedules", { ...MORNING, timeZone: "Europe/Berlin" });
    expect([created.status, created.body]).toEqual([
      200,
      {
        id: expect.any(String),
        slug: "morning",
        name: "morning",
        kind: "agent",
        targetId: tenant.agentId,
        cron: "0 8 * * MON-FRI",
        timeZone: "Europe/Berlin",
        paused: false,
        // It is Saturday, 21 November.
        nextAt: "2026-11-23T07:00:00.000Z",
        createdAt: "2026-11-21T01:22:07.000Z",
        updatedAt: "2026-11-21T01:22:07.000Z",
        definition: { ...MORNING, timeZone: "Europe/Berlin" },
      },
    ]);
    const path = `/v1/schedules/${created.body.id}`;
    const read = await get(path);
    expect([read.body, read.headers.get("etag")]).toEqual([created.body, created.headers.get("etag")]);
    const changed = await patch(path, { timeZone: null, paused: true }, key, {
      "If-Match": created.headers.get("etag") ?? "",
    });
    expect(changed.body).toMatchObject({ paused: true, nextAt: null, timeZone: "UTC" });
    expect(changed.body.definition).toEqual({ ...MORNING, paused: true });
    const late = await patch(path, {}, key, { "If-Match": created.headers.get("etag") ?? "" });
    expect(late.status).toBe(412);
    const moved = await patch(path, { agent: null, message: null, tool: "adder", input: { a: 1, b: 2 } });
    expect(moved.body).toMatchObject({ kind: "tool", targetId: tenant.toolId });
    const gone = await remove(path);
    world.clock.advance(1_000);
    expect((await remove(path)).body).toEqual(gone.body);
    expect((await get(path)).status).toBe(404);
    expect((await post("/v1/schedules", MORNING)).body.id).toBe(created.body.id);
    expect(await audited(created.body.id)).toEqual([
      "schedule.created by key lists",
      "schedule.updated by key lists",
      "schedule.updated by key lists",
      "schedule.removed by key lists",
      "schedule.restored by key lists",
    ]);
  });

  it("reject a wrong rule, target or part with its path", async () => {
    const pathsOf = async (body: object) =>
      (await post("/v1/schedules", body)).body.issues.map(({ path }: { path: string }) => path);
    expect(await pathsOf({ ...MORNING, slug: "x", cron: "61 * * * *" })).toEqual(["/cron"]);
    expect(await pathsOf({ ...MORNING, slug: "x", timeZone: "Mars/North" })).toEqual(["/timeZone"]);
    expect(await pathsOf({ ...MORNING, slug: "x", agent: "none" })).toEqual(["/agent"]);
    expect(await pathsOf({ slug: "x", agent: "helper", cron: "0 8 * * *" })).toEqual(["/message"]);
  });

  it("and triggers of an archived agent can be changed and stopped, but no others made for it", async () => {
    const agent = (await post("/v1/agents", { slug: "late", name: "Late", model: "gpt-5-mini" })).body;
    const late = { ...MORNING, slug: "late", agent: "late" };
    const schedule = (await post("/v1/schedules", late)).body;
    const trigger = (await post("/v1/triggers", { slug: "late", agent: "late" })).body;
    await remove(`/v1/agents/${agent.id}`);
    const paused = await patch(`/v1/schedules/${schedule.id}`, { paused: true });
    expect([paused.status, paused.body]).toMatchObject([
      200,
      { paused: true, nextAt: null, targetId: agent.id },
    ]);
    const disabled = await patch(`/v1/triggers/${trigger.id}`, { status: "inactive" });
    expect([disabled.status, disabled.body]).toMatchObject([200, { status: "inactive", targetId: agent.id }]);
    const pathsOf = async (path: string, body: object) =>
      (await post(path, body)).body.issues.map((issue: { path: string }) => issue.path);
    expect(await pathsOf("/v1/schedules", { ...late, slug: "later" })).toEqual(["/agent"]);
    await remove(`/v1/schedules/${schedule.id}`);
    expect(await pathsOf("/v1/schedules", late)).toEqual(["/agent"]);
  });

  it("of a limited key are those of its targets", async () => {
    const mine = await post(
      "/v1/schedules",
      { slug: "mine", tool: "adder", cron: "0 8 * * *", input: { a: 1, b: 1 } },
      limited,
    );
    expect(mine.status).toBe(200);
    const { body } = await post("/v1/schedules", { ...MORNING, slug: "theirs" });
    expect(await slugs("/v1/schedules", limited)).toEqual(["mine"]);
    expect(await slugs("/v1/schedules", othersKey)).toEqual([]);
    expect(await slugs(`/v1/schedules?target=${tenant.toolId}`)).toEqual(["mine"]);
    for (const by of [limited, othersKey]) {
      expect((await get(`/v1/schedules/${body.id}`, by)).status).toBe(404);
      expect((await patch(`/v1/schedules/${body.id}`, { paused: true }, by)).status).toBe(404);
      expect((await remove(`/v1/schedules/${body.id}`, by)).status).toBe(404);
    }
    expect((await post("/v1/schedules", { ...MORNING, slug: "new" }, limited)).status).toBe(400);
    await remove(`/v1/schedules/${body.id}`);
    const taken = { slug: "theirs", tool: "adder", cron: "0 8 * * *" };
    expect((await post("/v1/schedules", taken, limited)).status).toBe(403);
    const moved = await patch(
      `/v1/schedules/${mine.body.id}`,
      { tool: null, input: null, agent: "helper", message: "Hi" },
      limited,
    );
    expect(moved.body.issues).toEqual([
      { path: "/agent", message: 'names the agent "helper", which the API key may not use' },
    ]);
  });
});

const CALLBACK = { slug: "orders", url: "https://example.com/runs", events: ["run.completed"] };

describe("callbacks", () => {
  it("are created with a secret, which no read has, changed and deleted, each by the key", async () => {
    const { body } = await post("/v1/callbacks", { ...CALLBACK, agents: ["helper"] });
    const { secret, ...callback } = body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(callback).toEqual({
      id: expect.any(String),
      slug: "orders",
      name: "orders",
      url: "https://example.com/runs",
      events: ["run.completed"],
      status: "active",
      failingSince: null,
      createdAt: "2026-11-21T01:22:08.000Z",
      updatedAt: "2026-11-21T01:22:08.000Z",
      definition: { ...CALLBACK, agents: ["helper"] },
    });
    const path = `/v1/callbacks/${body.id}`;
    expect((await get(path)).body).toEqual(callback);
    expect((await patch(path, {})).body).toEqual(callback);
    const { triggerIds } = await world.db.callbackEndpoint.findFirstOrThrow({ where: { id: body.id } });
    expect(triggerIds).toEqual([]);
    const changed = await patch(path, { agents: null, metadata: { customer: 7 }, status: "inactive" });
    expect(changed.body.definition).toEqual({ ...CALLBACK, metadata: { customer: "7" }, status: "inactive" });
    const gone = await remove(path);
    expect(gone.body).toEqual({ id: body.id, archivedAt: "2026-11-21T01:22:08.000Z" });
    expect((await remove(path)).body).toEqual(gone.body);
    expect(await world.db.callbackSecret.count({ where: { endpointId: body.id } })).toBe(0);
    const again = await post("/v1/callbacks", CALLBACK);
    expect(again.body.id).not.toBe(body.id);
    expect((await get(path)).status).toBe(404);
    expect(await audited(body.id)).toEqual([
      "callback.created by key lists",
      "callback.updated by key lists",
      "callback.removed by key lists",
    ]);
  });

  it("need the scope runs:read, because outputs leave by them", async () => {
    const scopes = ["definitions:read", "definitions:write"] as const;
    const by = await createKey(world, tenant, { scopes });
    const { status, body } = await post("/v1/callbacks", { ...CALLBACK, slug: "leak" }, by);
    expect([status, body.message]).toEqual([403, "The API key lists lacks the scope runs:read."]);
  });

  it("reject wrong addresses, events and filters with their paths", async () => {
    const pathsOf = async (body: object) =>
      (await post("/v1/callbacks", { ...CALLBACK, slug: "x", ...body })).body.issues.map(
        ({ path }: { path: string }) => path,
      );
    expect(await pathsOf({ url: "http://example.com" })).toEqual(["/url"]);
    expect(await pathsOf({ events: ["run.exploded"] })).toEqual(["/events/0"]);
    expect(await pathsOf({ agents: ["none"], triggers: ["none"] })).toEqual(["/agents/0", "/triggers/0"]);
  });

  it("of a limited key name only its own agents, tools and triggers", async () => {
    const own = await createTrigger(world, tenant, { target: "tool" });
    const foreign = await createTrigger(world, tenant);
    const triggers = await get("/v1/triggers");
    const slugOf = (id: string) => triggers.body.data.find((each: { id: string }) => each.id === id).slug;
    const mine = { ...CALLBACK, slug: "mine", tools: ["adder"], triggers: [slugOf(own.id)] };
    const created = await post("/v1/callbacks", mine, limited);
    expect(created.status).toBe(200);
    const all = (await post("/v1/callbacks", { ...CALLBACK, slug: "all" })).body;
    const mixed = { ...CALLBACK, slug: "mixed", tools: ["adder"], triggers: [slugOf(foreign.id)] };
    expect((await post("/v1/callbacks", mixed)).status).toBe(200);
    expect(await slugs("/v1/callbacks", limited)).toEqual(["mine"]);
    expect(await slugs("/v1/callbacks", othersKey)).toEqual([]);
    for (const by of [limited, othersKey]) {
      expect((await get(`/v1/callbacks/${all.id}`, by)).status).toBe(404);
      expect((await patch(`/v1/callbacks/${all.id}`, { name: "Mine" }, by)).status).toBe(404);
      expect((await remove(`/v1/callbacks/${all.id}`, by)).status).toBe(404);
    }
    const pathsOf = async (body: object) =>
      (await post("/v1/callbacks", { ...CALLBACK, slug: "y", ...body }, limited)).body.issues.map(
        ({ path }: { path: string }) => path,
      );
    expect(await pathsOf({})).toEqual([""]);
    expect(await pathsOf({ agents: ["helper"] })).toEqual(["/agents/0"]);
    expect(await pathsOf({ tools: ["adder"], triggers: [slugOf(foreign.id)] })).toEqual(["/triggers/0"]);
    expect((await post("/v1/callbacks", { ...mine, slug: "all" }, limited)).status).toBe(403);
    expect((await patch(`/v1/callbacks/${created.body.id}`, { tools: null }, limited)).status).toBe(400);
    expect((await remove(`/v1/callbacks/${created.body.id}`, limited)).status).toBe(200);
  });
});

describe("If-Match", () => {
  async function expectUnchanged(path: string, { etag, field }: { etag: string; field: string }) {
    const read = await call(path, { key, headers: { "If-None-Match": etag } });
    expect(read.status).toBe(200);
    const changed = await patch(path, { name: "Renamed" }, key, { "If-Match": etag });
    expect([changed.status, changed.body]).toMatchObject([200, { [field]: read.body[field] }]);
    expect((await patch(path, {}, key, { "If-Match": etag })).status).toBe(412);
    const again = await call(path, {
      key,
      headers: { "If-None-Match": changed.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    return read.body[field];
  }

  it("ignores that a schedule was due, which a read shows", async () => {
    const { body, headers } = await post("/v1/schedules", { ...MORNING, slug: "hourly", cron: "0 * * * *" });
    world.clock.advance(3_600_000);
    await runDueSchedules(world);
    const given = { etag: headers.get("etag") ?? "", field: "nextAt" };
    expect(await expectUnchanged(`/v1/schedules/${body.id}`, given)).not.toBe(body.nextAt);
  });

  it("ignores that a callback fails, which a read shows", async () => {
    const { id } = (await post("/v1/callbacks", { ...CALLBACK, slug: "fails" })).body;
    const path = `/v1/callbacks/${id}`;
    const etag = (await get(path)).headers.get("etag") ?? "";
    const failingSince = world.clock.now();
    await world.db.callbackEndpoint.update({ where: { id }, data: { failingSince } });
    const given = { etag, field: "failingSince" };
    expect(await expectUnchanged(path, given)).toBe(failingSince.toISOString());
  });
});
