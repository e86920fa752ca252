import { describe, expect, it } from "vitest";
import type { Transaction } from "@/server/base/db/client";
import type { Prisma } from "@/server/base/db/generated/client";
import { newId } from "@/server/base/ids";
import { hashApiKey } from "@/server/catalog/auth/api-key";
import { lockCatalog, organizationLock } from "@/server/catalog/change";
import { rotateTriggerSecret } from "@/server/catalog/change-trigger";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { createTenant, createTrigger, openWorld, type Tenant } from "@/testing/world";

const world = await openWorld();
const { call, origin } = await openRestServer(world);
const plan = { readsPerMinute: null, startsPerMinute: null };
const tenant = await createTenant(world, { plan });
const key = await createKey(world, tenant);
const other = await createTenant(world, { plan });
const othersKey = await createKey(world, other);

type Options = { by?: string; headers?: Record<string, string> };
const get = (path: string, { by = key, headers = {} }: Options = {}) => call(path, { key: by, headers });
const post = (path: string, body: unknown, { by = key, headers = {} }: Options = {}) =>
  call(path, { method: "POST", key: by, headers, body });
const patch = (path: string, body: unknown, { by = key, headers = {} }: Options = {}) =>
  call(path, { method: "PATCH", key: by, headers, body });
const remove = (path: string, { by = key, headers = {} }: Options = {}) =>
  call(path, { method: "DELETE", key: by, headers });
const errorOf = ({ status, body }: Awaited<ReturnType<typeof get>>) => [status, body.code, body.issues];

const AGENT = { name: "Writer", model: "gpt-5-mini", systemPrompt: "You write." };
const TOOL = { name: "Clock", steps: [{ id: "now", uses: "current_time" }] };

const auditOf = async (of: Pick<Tenant, "orgId">, subjectId: string) =>
  (
    await world.db.auditEntry.findMany({
      where: { organizationId: of.orgId, subjectId },
      orderBy: { id: "asc" },
    })
  ).map(({ action, actorName }) => [action, actorName]);

it("uses the rights that a key has once an earlier change is over", async () => {
  const own = await createTenant(world, { plan });
  const [revoked, lowered, limited, kept] = [
    await createKey(world, own),
    await createKey(world, own),
    await createKey(world, own),
    await createKey(world, own),
  ];
  const set = (by: string, data: Prisma.ApiKeyUpdateInput, tx: Transaction) => {
    const hash = hashApiKey(by);
    return tx.apiKey.update({ where: { hash: new Uint8Array(hash ?? []) }, data });
  };
  const path = `/v1/agents/${own.agentId}`;
  const ask = (by: string) => patch(path, { name: "Changed" }, { by });
  let waiting: ReturnType<typeof ask>[] = [];
  await world.db.$transaction(async (tx) => {
    await lockCatalog(tx, [organizationLock(own.orgId)]);
    waiting = [revoked, lowered, limited, kept].map(ask);
    const queued = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await expect.poll(async () => (await world.pool.query(queued)).rowCount).toBe(waiting.length);
    await set(revoked, { revokedAt: world.clock.now() }, tx);
    await set(lowered, { scopes: ["definitions:read"] }, tx);
    await set(limited, { targetIds: [own.toolId] }, tx);
  });
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status }) => status)).toEqual([401, 403, 403, 200]);
});

describe("agents and tools", () => {
  it("are created as a read shows them, with a note, a version and an audit entry of the key", async () => {
    const created = await post("/v1/agents?note=First%20try", { slug: "writer", ...AGENT });
    expect([created.status, created.body]).toEqual([
      200,
      {
        id: expect.any(String),
        slug: "writer",
        name: "Writer",
        version: 1,
        status: "active",
        createdAt: "2026-11-21T01:22:07.000Z",
        updatedAt: "2026-11-21T01:22:07.000Z",
        definition: { slug: "writer", ...AGENT },
        versions: [{ number: 1, note: "First try", createdAt: "2026-11-21T01:22:07.000Z" }],
      },
    ]);
    const path = `/v1/agents/${created.body.id}`;
    const read = await get(path);
    expect(read.body).toEqual(created.body);
    expect(read.headers.get("etag")).toBe(created.headers.get("etag"));
    expect(await auditOf(tenant, created.body.id)).toEqual([["agent.created", "key lists"]]);
    const started = await post(`/v1/agents/run/${created.body.id}`, { userMessage: "Hello" });
    expect(started.status).toBe(200);
  });

  it("keep the fields that a change leaves out; null gives a field its default", async () => {
    const { body } = await post("/v1/agents", { slug: "patched", ...AGENT, maxSteps: 3, maxCredits: 2 });
    const path = `/v1/agents/${body.id}`;
    const changed = await patch(`${path}?note=Shorter`, { systemPrompt: "Write less.", maxCredits: null });
    expect(changed.body).toMatchObject({
      version: 2,
      versions: [{ number: 2, note: "Shorter" }, { number: 1 }],
    });
    expect(changed.body.definition).toEqual({
      slug: "patched",
      ...AGENT,
      systemPrompt: "Write less.",
      maxSteps: 3,
    });
    expect((await get(path)).headers.get("etag")).toBe(changed.headers.get("etag"));
    const renamed = await patch(path, { name: "Author", status: "inactive" });
    expect(renamed.body).toMatchObject({ name: "Author", status: "inactive", version: 2 });
    const unchanged = await patch(path, {});
    expect(unchanged.body).toEqual(renamed.body);
    expect(await auditOf(tenant, body.id)).toEqual([
      ["agent.created", "key lists"],
      ["agent.updated", "key lists"],
      ["agent.updated", "key lists"],
    ]);
  });

  it("keep the digits of numbers", async () => {
    const digits = "8202522731445525542";
    const definition = { slug: "exact", ...TOOL, output: { id: "DIGITS" } };
    const response = await fetch(`${origin}/v1/tools`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify(definition).replace('"DIGITS"', digits),
    });
    const text = await response.text();
    expect(text).toContain(`"output":{"id":${digits}}`);
    const { id } = JSON.parse(text);
    await patch(`/v1/tools/${id}`, { name: "Exact" });
    const stored = await world.db.toolVersion.findMany({ where: { toolId: id } });
    expect(stored.map(({ definition }) => definition.includes(`"id":${digits}`))).toEqual([true]);
  });

  it.each([
    ["/v1/agents", { slug: "x" }, ["/name", "/model"]],
    ["/v1/agents", { slug: "x", ...AGENT, maxSteps: 99, colour: 1 }, ["/maxSteps", "/colour"]],
    [
      "/v1/agents",
      { slug: "x", ...AGENT, tools: ["none"], functions: ["nothing"] },
      ["/functions/0", "/tools/0"],
    ],
    ["/v1/tools", { slug: "x", name: "X", steps: [{ id: "a", uses: "calculat" }] }, ["/steps/0/uses"]],
    [
      "/v1/tools",
      { slug: "X", name: "X", steps: [{ id: "a", uses: "calculate", with: { expression: "{{ input. }}" } }] },
      ["/slug", "/steps/0/with/expression"],
    ],
    ["/v1/triggers", { slug: "x" }, [""]],
    ["/v1/triggers", { slug: "x", agent: "none", filter: "(" }, ["/agent", "/filter"]],
    [
      "/v1/triggers",
      { slug: "x", agent: "helper", signature: "standard-webhooks", secret: "short" },
      ["/secret"],
    ],
  ])("POST %s %j is 400 with the paths of a definition file", async (path, body, paths) => {
    const { status, body: answer } = await post(path, body);
    expect([status, answer.code]).toEqual([400, "invalid_request"]);
    expect(answer.issues.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  it("PATCH of a trigger's signature checks the secret that stays", async () => {
    const hex = { slug: "resigned", agent: "helper", signature: "hex", secret: "hello" };
    const { body } = await post("/v1/triggers", hex);
    const path = `/v1/triggers/${body.id}`;
    const signature = "standard-webhooks";
    const rejected = await patch(path, { signature });
    expect([rejected.status, rejected.body.issues]).toMatchObject([400, [{ path: "/secret" }]]);
    expect((await patch(path, { name: "Shop" })).status).toBe(200);
    const secret = Buffer.alloc(24, "s").toString("base64");
    expect((await patch(path, { signature, secret })).status).toBe(200);
  });

  it("reject a taken slug, another slug, a body that is no object, and what is not JSON", async () => {
    const { body } = await post("/v1/tools", { slug: "clock", ...TOOL });
    const path = `/v1/tools/${body.id}`;
    expect(errorOf(await post("/v1/tools", { slug: "clock", ...TOOL }))).toEqual([
      400,
      "invalid_request",
      [{ path: "/slug", message: 'is taken: a tool "clock" exists' }],
    ]);
    expect(errorOf(await patch(path, { slug: "watch" }))).toEqual([
      400,
      "invalid_request",
      [{ path: "/slug", message: 'cannot be changed: "watch" is not the slug of this tool' }],
    ]);
    expect(errorOf(await patch(path, { steps: [] }))).toMatchObject([
      400,
      "invalid_request",
      [{ path: "/steps" }],
    ]);
    expect((await patch(path, [])).status).toBe(400);
    expect((await patch(path, { name: "X" }, { headers: { "Content-Type": "text/yaml" } })).status).toBe(400);
    expect((await post("/v1/tools", { slug: "big", name: "x".repeat(1_100_000) })).status).toBe(413);
    expect((await get(path)).body).toEqual(body);
  });

  it.each([
    ["agents", { slug: "many", ...AGENT }, "tools", 1000],
    ["agents", { slug: "many", ...AGENT }, "functions", 1000],
    ["callbacks", { slug: "many", url: "https://example.com/runs" }, "events", 6],
  ])("reject a list of %s that is very long with one issue", async (kind, definition, field, most) => {
    const list = Array.from({ length: 50_000 }, () => 1);
    expect(errorOf(await post(`/v1/${kind}`, { ...definition, [field]: list }))).toEqual([
      400,
      "invalid_request",
      [{ path: `/${field}`, message: `must have at most ${most} items` }],
    ]);
  });

  it.each([
    ["agents", { slug: "many", ...AGENT }, "policies"],
    ["callbacks", { slug: "many", url: "https://example.com/runs", events: ["run.failed"] }, "metadata"],
  ])("reject a mapping of %s with very many members with one issue", async (kind, definition, field) => {
    const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, []]));
    const message = "must have at most 5000 members";
    expect(errorOf(await post(`/v1/${kind}`, { ...definition, [field]: members }))).toEqual([
      400,
      "invalid_request",
      [{ path: `/${field}`, message }],
    ]);
    expect(errorOf(await post(`/v1/${kind}`, { ...definition, ...members }))).toEqual([
      400,
      "invalid_request",
      [{ path: "", message }],
    ]);
  });

  it("are archived once, restored by their slug, and else unknown", async () => {
    const { body } = await post("/v1/agents", { slug: "old", ...AGENT });
    const path = `/v1/agents/${body.id}`;
    expect(await remove(path, { by: othersKey })).toMatchObject({ status: 404 });
    const gone = { id: body.id, archivedAt: "2026-11-21T01:22:07.000Z" };
    expect((await remove(path)).body).toEqual(gone);
    world.clock.advance(1_000);
    expect((await remove(path)).body).toEqual(gone);
    expect((await remove(path, { by: othersKey })).status).toBe(404);
    expect([(await get(path)).status, (await patch(path, { name: "New" })).status]).toEqual([404, 404]);
    const slugs = (await get("/v1/agents")).body.data.map(({ slug }: { slug: string }) => slug);
    expect(slugs).not.toContain("old");
    const restored = await post("/v1/agents", { slug: "old", ...AGENT, name: "New" });
    expect(restored.body).toMatchObject({ id: body.id, version: 1, name: "New" });
    expect(await auditOf(tenant, body.id)).toEqual([
      ["agent.created", "key lists"],
      ["agent.removed", "key lists"],
      ["agent.restored", "key lists"],
    ]);
  });

  it("that agents use are not archived", async () => {
    const { body } = await post("/v1/tools", { slug: "used", ...TOOL });
    await post("/v1/agents", { slug: "user", ...AGENT, tools: ["used"] });
    const { status, body: answer } = await remove(`/v1/tools/${body.id}`);
    expect([status, answer.message]).toEqual([400, "Clock is used by user. Remove it there first."]);
  });
});

describe("If-Match", () => {
  it.each([
    ["triggers", { slug: "fresh-trigger", agent: "helper" }],
    ["callbacks", { slug: "fresh-callback", url: "https://example.com/runs", events: ["run.completed"] }],
  ])("takes the ETag of new %s, whose answer has what no read has", async (kind, definition) => {
    const created = await post(`/v1/${kind}`, definition);
    const etag = created.headers.get("etag") ?? "";
    const path = `/v1/${kind}/${created.body.id}`;
    expect(etag).toBe((await get(path)).headers.get("etag"));
    expect((await patch(path, {}, { headers: { "If-Match": etag } })).status).toBe(200);
  });

  it("is 412 unless it names the current state, and changes nothing then", async () => {
    const created = await post("/v1/agents", { slug: "matched", ...AGENT });
    const path = `/v1/agents/${created.body.id}`;
    const etag = created.headers.get("etag") ?? "";
    const changed = await patch(path, { name: "Second" }, { headers: { "If-Match": `"other", ${etag}` } });
    expect(changed.status).toBe(200);
    for (const stale of [etag, `W/${changed.headers.get("etag")}`, '"x"']) {
      for (const answer of [
        await patch(path, { name: "Third" }, { headers: { "If-Match": stale } }),
        await remove(path, { headers: { "If-Match": stale } }),
      ]) {
        expect([answer.status, answer.body.code]).toEqual([412, "precondition_failed"]);
      }
    }
    expect((await get(path)).body).toEqual(changed.body);
    expect((await patch(path, { name: "Third" }, { headers: { "If-Match": "*" } })).status).toBe(200);
    expect(
      (await remove(path, { headers: { "If-Match": (await get(path)).headers.get("etag") ?? "" } })).status,
    ).toBe(200);
    expect((await remove(path, { headers: { "If-Match": etag } })).status).toBe(200);
  });

  it("is 412 after a rotation of the trigger's secret", async () => {
    const { body } = await post("/v1/triggers", { slug: "signed", agent: "helper", secret: "first" });
    const path = `/v1/triggers/${body.id}`;
    const headers = { "If-Match": (await get(path)).headers.get("etag") ?? "" };
    const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    expect((await patch(path, {}, { headers })).status).toBe(200);
    world.clock.advance(1);
    await rotateTriggerSecret(world, operator, { id: body.id, overlapSeconds: 0 });
    expect((await patch(path, { secret: "first" }, { headers })).status).toBe(412);
  });

  it("lets exactly one of two changes at once win", async () => {
    const created = await post("/v1/tools", { slug: "raced", ...TOOL });
    const path = `/v1/tools/${created.body.id}`;
    const headers = { "If-Match": created.headers.get("etag") ?? "" };
    const names = ["One", "Two", "Three", "Four"];
    const answers = await Promise.all(names.map((name) => patch(path, { name }, { headers })));
    const winners = answers.filter(({ status }) => status === 200);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    expect((await get(path)).body).toEqual(winners[0]?.body);
  });

  it("of a run's state is of no use: a view of a change is never 304", async () => {
    const created = await post("/v1/agents", { slug: "fresh", ...AGENT });
    const path = `/v1/agents/${created.body.id}`;
    const headers = { "If-None-Match": created.headers.get("etag") ?? "" };
    expect((await patch(path, {}, { headers })).status).toBe(200);
  });
});

describe("triggers", () => {
  it("are created with an address and a generated secret, which no read has", async () => {
    const { body } = await post("/v1/triggers?generateSecret=true", { slug: "hook", agent: "helper" });
    expect(body).toMatchObject({ slug: "hook", kind: "agent", targetId: tenant.agentId });
    expect(body.url).toMatch(/^http:\/\/stepwell\.test\/webhooks\/[\w-]{32}$/);
    expect(body.secret).toMatch(/^[0-9a-f]{64}$/);
    const read = await get(`/v1/triggers/${body.id}`);
    expect(JSON.stringify(read.body)).not.toContain(body.secret);
    expect(Object.keys(read.body)).not.toContain("url");
    expect(await auditOf(tenant, body.id)).toEqual([["trigger.created", "key lists"]]);
    const stored = await world.db.triggerSecret.findMany({ where: { triggerId: body.id } });
    expect(stored).toHaveLength(1);
  });

  it("keep their secrets when they change, unless the body has one or null", async () => {
    const { body } = await post("/v1/triggers", { slug: "kept", tool: "adder", secret: "first-secret" });
    const path = `/v1/triggers/${body.id}`;
    const secrets = () => world.db.triggerSecret.findMany({ where: { triggerId: body.id } });
    const [first] = await secrets();
    await patch(path, { rateLimit: { requests: 5, seconds: 10 } });
    expect(await secrets()).toEqual([first]);
    await patch(path, { secret: "second-secret" });
    const [second] = await secrets();
    expect(second?.id).not.toBe(first?.id);
    expect((await patch(path, { secret: null, rateLimit: null })).body.definition).toEqual({
      slug: "kept",
      tool: "adder",
    });
    expect(await secrets()).toEqual([]);
    const moved = await patch(path, { tool: null, agent: "helper" });
    expect(moved.body).toMatchObject({ kind: "agent", targetId: tenant.agentId });
  });

  it("are archived, and restored with another address", async () => {
    const { body } = await post("/v1/triggers", { slug: "moved", tool: "adder" });
    const token = body.url.split("/").at(-1);
    expect((await remove(`/v1/triggers/${body.id}`)).status).toBe(200);
    expect((await remove(`/v1/triggers/${body.id}`)).status).toBe(200);
    const restored = (await post("/v1/triggers", { slug: "moved", tool: "adder" })).body;
    expect(restored.id).toBe(body.id);
    expect(restored.url).not.toContain(token);
  });
});

describe("a key that is limited to agents and tools", async () => {
  const own = await createTenant(world, { plan });
  const full = await createKey(world, own);
  const by = await createKey(world, own, { targetIds: [own.toolId, own.agentId] });
  const foreign = (await post("/v1/tools", { slug: "foreign", ...TOOL }, { by: full })).body;
  const helper = (await post("/v1/agents", { slug: "foreign", ...AGENT }, { by: full })).body;
  const hook = await createTrigger(world, own, { target: "tool" });
  const foreignHook = (await post("/v1/triggers", { slug: "foreign", tool: "foreign" }, { by: full })).body;
  const used = `"foreign", which the API key may not use`;

  it("changes its own and their triggers only", async () => {
    expect((await patch(`/v1/tools/${own.toolId}`, { name: "Plus" }, { by })).status).toBe(200);
    expect((await patch(`/v1/triggers/${hook.id}`, { name: "Hook" }, { by })).status).toBe(200);
    expect((await post("/v1/triggers", { slug: "mine", agent: "helper" }, { by })).status).toBe(200);
    for (const path of [
      `/v1/tools/${foreign.id}`,
      `/v1/agents/${helper.id}`,
      `/v1/triggers/${foreignHook.id}`,
    ]) {
      expect((await patch(path, { name: "Mine" }, { by })).status).toBe(404);
      expect((await remove(path, { by })).status).toBe(404);
      expect((await get(path, { by: full })).status).toBe(200);
    }
  });

  it("creates no others, and takes none over by their slug", async () => {
    for (const [path, body] of [
      ["/v1/agents", { slug: "new", ...AGENT }],
      ["/v1/tools", { slug: "foreign", ...TOOL }],
      ["/v1/triggers", { slug: "foreign", agent: "helper" }],
    ] as const) {
      const { status, body: answer } = await post(path, body, { by });
      expect([status, answer.code]).toEqual([403, "forbidden"]);
    }
    await remove(`/v1/triggers/${foreignHook.id}`, { by: full });
    expect((await post("/v1/triggers", { slug: "foreign", agent: "helper" }, { by })).status).toBe(403);
  });

  it("names no others in what it saves, except those that are there already", async () => {
    const path = `/v1/agents/${own.agentId}`;
    const attach = await patch(path, { tools: ["foreign"], functions: ["run_agent"] }, { by });
    expect(errorOf(attach)).toEqual([
      400,
      "invalid_request",
      [
        { path: "/tools/0", message: `names the tool ${used}` },
        { path: "/functions/0", message: "names any agent, which the API key may not use" },
      ],
    ]);
    const step = (tool: string) => [{ id: "a", uses: "run_tool", with: { tool } }];
    for (const tool of ["foreign", "{{ input.a }}"]) {
      const answer = await patch(`/v1/tools/${own.toolId}`, { steps: step(tool), output: null }, { by });
      expect(errorOf(answer)).toMatchObject([400, "invalid_request", [{ path: "/steps/0/with/tool" }]]);
    }
    expect((await post("/v1/triggers", { slug: "to-foreign", tool: "foreign" }, { by })).status).toBe(400);
    await patch(path, { tools: ["foreign"] }, { by: full });
    expect((await patch(path, { name: "Still" }, { by })).status).toBe(200);
    const { body } = await remove(`/v1/tools/${own.toolId}`, { by: full });
    expect(body.id).toBe(own.toolId);
  });
});

it("a key without the scope to read gets no definition by changing one", async () => {
  const by = await createKey(world, tenant, { scopes: ["definitions:write"] });
  const { status, body } = await patch(`/v1/agents/${tenant.agentId}`, {}, { by });
  expect([status, body.message]).toEqual([403, "The API key lists lacks the scope definitions:read."]);
  expect((await remove(`/v1/agents/${newId()}`, { by })).status).toBe(404);
});

it("changes count against a limit of their own", async () => {
  const paced = await createTenant(world, { plan: { readsPerMinute: 1 } });
  const by = await createKey(world, paced);
  expect((await patch(`/v1/agents/${paced.agentId}`, {}, { by })).headers.get("ratelimit")).toMatch(
    /^"changes";r=0;/,
  );
  expect((await patch(`/v1/agents/${paced.agentId}`, {}, { by })).status).toBe(429);
  expect((await get(`/v1/agents/${paced.agentId}`, { by })).status).toBe(200);
});
