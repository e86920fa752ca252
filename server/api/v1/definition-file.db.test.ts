import { describe, expect, it } from "vitest";
import { readToolText } from "@/server/catalog/edit-definition";
import { MAX_BODY_BYTES, MIB } from "@/server/contract/sizes";
import { createMember } from "@/testing/runs";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { createTenant, createTrigger, openWorld, type Tenant } from "@/testing/world";

const world = await openWorld();
const { origin, call } = await openRestServer(world);
const plan = { readsPerMinute: null, startsPerMinute: null };
const YAML = "application/yaml";

async function apply(source: string | object, by: string, { query = "", type = "" } = {}) {
  const isText = typeof source === "string";
  const response = await fetch(`${origin}/v1/apply${query}`, {
    method: "POST",
    headers: { "X-API-Key": by, "Content-Type": type || (isText ? YAML : "application/json") },
    body: isText ? source : JSON.stringify(source),
  });
  return { status: response.status, body: await response.json() };
}
async function exportYaml(by: string): Promise<{ type: string | null; text: string }> {
  const response = await fetch(`${origin}/v1/export?format=yaml`, { headers: { "X-API-Key": by } });
  return { type: response.headers.get("content-type"), text: await response.text() };
}
async function open() {
  const tenant = await createTenant(world, { plan });
  return { tenant, key: await createKey(world, tenant) };
}
const fileOf = ({ slug }: Pick<Tenant, "slug">, contents: object) => ({
  organizations: [{ slug, ...contents }],
});
const WRITER = { slug: "writer", name: "Writer", model: "gpt-5-mini", systemPrompt: "You write." };
const CLOCK = { slug: "clock", name: "Clock", steps: [{ id: "now", uses: "current_time" }] };
const contents = {
  agents: [{ ...WRITER, tools: ["clock"] }],
  tools: [CLOCK],
  triggers: [{ slug: "hook", agent: "writer" }],
  schedules: [{ slug: "daily", tool: "clock", cron: "0 8 * * *" }],
  callbacks: [
    { slug: "ended", url: "https://example.com/runs", events: ["run.completed"], agents: ["writer"] },
  ],
};
const savedOf = ({ body }: { body: { definitions: { kind: string; slug: string; saved: string }[] } }) =>
  body.definitions.map(({ kind, slug, saved }) => `${kind} ${slug} ${saved}`);
const countAll = async ({ orgId }: Pick<Tenant, "orgId">) => {
  const where = { organizationId: orgId };
  const { db } = world;
  return [
    await db.agent.count({ where }),
    await db.tool.count({ where }),
    await db.trigger.count({ where }),
    await db.schedule.count({ where }),
    await db.callbackEndpoint.count({ where }),
    await db.auditEntry.count({ where }),
  ];
};

describe("apply", () => {
  it("creates all kinds from YAML or JSON, once, each with an audit entry of the key", async () => {
    const { tenant, key } = await open();
    const yaml = `
organizations:
  - slug: ${tenant.slug}
    tools: [{ slug: clock, name: Clock, steps: [{ id: now, uses: current_time }] }]
    agents: [{ slug: writer, name: Writer, model: gpt-5-mini, systemPrompt: You write., tools: [clock] }]
    triggers: [{ slug: hook, agent: writer }]
    schedules: [{ slug: daily, tool: clock, cron: 0 8 * * * }]
    callbacks: [{ slug: ended, url: "https://example.com/runs", events: [run.completed], agents: [writer] }]
`;
    const first = await apply(yaml, key);
    expect([first.status, first.body.dryRun]).toEqual([200, false]);
    expect(savedOf(first)).toEqual([
      "tool clock created",
      "agent writer created",
      "trigger hook created",
      "schedule daily created",
      "callback ended created",
    ]);
    const [tool, agent, trigger, schedule, callback] = first.body.definitions;
    expect(tool).toMatchObject({
      version: 1,
      url: null,
      secret: null,
      changes: { name: { from: null, to: "Clock" } },
    });
    expect([agent.version, schedule.version]).toEqual([1, null]);
    expect(trigger.url).toMatch(/^http:\/\/stepwell\.test\/webhooks\/[\w-]{32}$/);
    expect(callback.secret).toMatch(/^whsec_/);
    expect((await call(`/v1/agents/${agent.id}`, { key })).body.definition).toEqual({
      ...WRITER,
      tools: ["clock"],
    });
    const entries = await world.db.auditEntry.findMany({ where: { organizationId: tenant.orgId } });
    expect(entries.map(({ actorName }) => actorName)).toEqual(Array(5).fill("key lists"));

    const again = await apply(fileOf(tenant, contents), key);
    expect(new Set(again.body.definitions.map(({ saved }: { saved: string }) => saved))).toEqual(
      new Set(["unchanged"]),
    );
    expect(again.body.definitions[2]).toMatchObject({ id: trigger.id, url: null, changes: {} });
    expect(JSON.stringify(again.body)).not.toContain("whsec_");
  });

  it("shows the changes of a dry run and makes none", async () => {
    const { tenant, key } = await open();
    await apply(fileOf(tenant, { agents: [WRITER] }), key);
    const before = await countAll(tenant);
    const changed = { ...contents, agents: [{ ...WRITER, systemPrompt: "Write.", tools: ["clock"] }] };
    const answer = await apply(fileOf(tenant, changed), key, { query: "?dryRun=true" });
    expect([answer.status, answer.body.dryRun]).toEqual([200, true]);
    expect(savedOf(answer)).toEqual([
      "tool clock created",
      "agent writer updated",
      "trigger hook created",
      "schedule daily created",
      "callback ended created",
    ]);
    expect(answer.body.definitions[1]).toMatchObject({
      id: expect.any(String),
      version: 2,
      changes: { systemPrompt: { from: "You write.", to: "Write." }, tools: { from: [], to: ["clock"] } },
    });
    for (const { saved, id, url, secret } of answer.body.definitions) {
      expect([saved === "created", url, secret]).toEqual([id === null, null, null]);
    }
    expect(await countAll(tenant)).toEqual(before);
    expect(
      (await call("/v1/agents", { key })).body.data.map(({ version }: { version: number }) => version),
    ).toEqual([1, 1]);
    expect(savedOf(await apply(fileOf(tenant, changed), key))).toEqual(savedOf(answer));
  });

  it("applies nothing if one entry is wrong, and names every issue with its line", async () => {
    const { tenant, key } = await open();
    const before = await countAll(tenant);
    const yaml = `organizations:
  - slug: ${tenant.slug}
    agents:
      - { slug: good, name: Good, model: gpt-5-mini }
      - { slug: bad, name: Bad, model: gpt-5-mini, maxSteps: 99 }
    triggers:
      - { slug: hook, agent: none }
    schedules:
      - { slug: daily, tool: adder, cron: "61 8 * * *" }
`;
    for (const query of ["", "?dryRun=true"]) {
      const { status, body } = await apply(yaml, key, { query });
      expect([status, body.code]).toEqual([400, "invalid_request"]);
      expect(
        body.issues.map(({ path, message }: { path: string; message: string }) => [path, message.slice(-9)]),
      ).toEqual([
        ["/organizations/0/agents/1/maxSteps", " (line 5)"],
        ["/organizations/0/triggers/0/agent", " (line 7)"],
        ["/organizations/0/schedules/0/cron", " (line 9)"],
      ]);
    }
    expect(await countAll(tenant)).toEqual(before);
  });

  it.each([
    ["organizations: [", "line 1, column 17: "],
    ["organizations: []", "must have at least 1 item"],
    ["organizations: [{ slug: SLUG, agent: [] }]", "is not known here; known fields: "],
    ["- 1", "must be a mapping"],
    ["organizations: [{ slug: SLUG, tools: [], tools: [] }]", 'The key "tools" appears twice.'],
  ])("rejects %s", async (source, message) => {
    const { tenant, key } = await open();
    const { status, body } = await apply(source.replace("SLUG", tenant.slug), key);
    expect([status, body.code]).toEqual([400, "invalid_request"]);
    expect(body.issues[0].message).toContain(message);
  });

  it("rejects other types, large bodies and very many definitions", async () => {
    const { tenant, key } = await open();
    const { status, body } = await apply("a: 1", key, { type: "text/plain" });
    expect([status, body.message]).toEqual([
      400,
      "The header Content-Type must be application/json or application/yaml, not text/plain.",
    ]);
    expect((await apply(" ".repeat(MAX_BODY_BYTES + 1), key)).status).toBe(413);
    const tools = Array.from({ length: 501 }, (_, n) => ({ ...CLOCK, slug: `t${n}` }));
    const invalid = Array.from({ length: 100_000 }, () => ({}));
    for (const file of [
      fileOf(tenant, { tools }),
      fileOf(tenant, { tools: invalid }),
      { organizations: invalid },
    ]) {
      const { status, body } = await apply(file, key);
      expect([status, body.issues]).toEqual([
        400,
        [{ path: "", message: "The file has more than 500 definitions" }],
      ]);
    }
  });

  it("is 403 for another organization and for what is no definition, and changes nothing", async () => {
    const { tenant, key } = await open();
    const other = await createTenant(world, { plan });
    const parts: Record<string, unknown> = {
      name: "Mine",
      plan: { apiAccess: false },
      credits: 1000,
      members: [{ email: "eve@example.com", role: "owner" }],
      apiKeys: [{ name: "more" }],
      secrets: [{ name: "token", hosts: ["example.com"] }],
      modelProviders: [],
    };
    for (const [field, value] of Object.entries(parts)) {
      const { status, body } = await apply(fileOf(tenant, { agents: [WRITER], [field]: value }), key);
      expect([status, body.code, body.issues]).toEqual([
        403,
        "forbidden",
        [{ path: `/organizations/0/${field}`, message: "cannot be changed by API key" }],
      ]);
    }
    const files = [
      fileOf(other, { agents: [WRITER] }),
      fileOf({ slug: "unknown" }, { agents: [WRITER] }),
      { organizations: [{ slug: tenant.slug, agents: [WRITER] }, { slug: other.slug }] },
    ];
    for (const file of files) expect((await apply(file, key)).status).toBe(403);
    expect((await countAll(tenant)).slice(0, 3)).toEqual([1, 1, 0]);
    expect((await countAll(other)).slice(0, 3)).toEqual([1, 1, 0]);
  });

  it("needs the scope runs:read for callbacks, because outputs leave by them", async () => {
    const { tenant } = await open();
    const key = await createKey(world, tenant, { scopes: ["definitions:read", "definitions:write"] });
    const { status, body } = await apply(fileOf(tenant, contents), key);
    expect([status, body.message]).toEqual([
      403,
      "The API key lists lacks the scope runs:read, which callbacks need because outputs are sent there.",
    ]);
    const { callbacks: _, ...others } = contents;
    expect((await apply(fileOf(tenant, others), key)).status).toBe(200);
  });

  it("by a limited key saves what is its own, or nothing", async () => {
    const { tenant, key } = await open();
    await apply(fileOf(tenant, { tools: [CLOCK] }), key);
    const limited = await createKey(world, tenant, { targetIds: [tenant.agentId, tenant.toolId] });
    const own = {
      agents: [{ ...WRITER, slug: "helper", tools: ["adder"] }],
      schedules: [{ slug: "mine", tool: "adder", cron: "0 8 * * *", input: { a: 1, b: 1 } }],
    };
    expect(savedOf(await apply(fileOf(tenant, own), limited))).toEqual([
      "agent helper updated",
      "schedule mine created",
    ]);
    const before = await countAll(tenant);
    for (const agents of [[WRITER], [...own.agents, WRITER]]) {
      const { status, body } = await apply(fileOf(tenant, { ...own, agents }), limited);
      expect([status, body.code]).toEqual([403, "forbidden"]);
    }
    expect((await apply(fileOf(tenant, { tools: [CLOCK] }), limited)).status).toBe(403);
    const reach = await apply(fileOf(tenant, { agents: [{ ...own.agents[0], tools: ["clock"] }] }), limited);
    expect([reach.status, reach.body.issues[0].path]).toEqual([400, "/organizations/0/agents/0/tools/0"]);
    expect(await countAll(tenant)).toEqual(before);
  });
});

describe("export", () => {
  it("is a definition file that changes nothing, as JSON and as YAML, without secrets and other parts", async () => {
    const { tenant, key } = await open();
    const hook = await createTrigger(world, tenant, { secrets: ["s3cret-of-hook"] });
    await apply(fileOf(tenant, contents), key);
    const json = await call("/v1/export", { key });
    const [organization] = json.body.organizations;
    expect(Object.keys(organization)).toEqual([
      "slug",
      "tools",
      "agents",
      "triggers",
      "callbacks",
      "schedules",
    ]);
    expect(organization.agents[1]).toEqual({ ...WRITER, tools: ["clock"] });
    expect(organization.callbacks).toEqual(contents.callbacks);
    expect(organization.schedules).toEqual(contents.schedules);
    const yaml = await exportYaml(key);
    expect(yaml.type).toBe("application/yaml; charset=utf-8");
    expect(yaml.text).toContain("# a secret is set; it is not exported");
    for (const text of [JSON.stringify(json.body), yaml.text]) {
      expect(text).not.toMatch(new RegExp(`s3cret-of-hook|${hook.token}|whsec_`));
    }
    for (const source of [json.body, yaml.text]) {
      const { status, body } = await apply(source, key);
      expect([status, new Set(body.definitions.map(({ saved }: { saved: string }) => saved))]).toEqual([
        200,
        new Set(["unchanged"]),
      ]);
    }
  });

  it("of a limited key has only what it may read, which it may apply again", async () => {
    const { tenant, key } = await open();
    await apply(fileOf(tenant, contents), key);
    const by = await createKey(world, tenant, { targetIds: [tenant.toolId] });
    expect((await call("/v1/export", { key: by })).body.organizations).toMatchObject([
      { slug: tenant.slug, tools: [{ slug: "adder" }], agents: [], triggers: [] },
    ]);
    const clock = await world.db.tool.findFirstOrThrow({
      where: { organizationId: tenant.orgId, slug: "clock" },
    });
    const ofClock = await createKey(world, tenant, { targetIds: [clock.id] });
    const { body } = await call("/v1/export", { key: ofClock });
    expect(body.organizations).toMatchObject([
      { tools: [{ slug: "clock" }], agents: [], schedules: [{ slug: "daily" }] },
    ]);
    expect(body.organizations[0].callbacks).toBeUndefined();
    expect(savedOf(await apply(body, ofClock))).toEqual(["tool clock unchanged", "schedule daily unchanged"]);
  });

  it("is rejected if the definitions are too large for one file", async () => {
    const { tenant, key } = await open();
    await apply(fileOf(tenant, contents), key);
    const definition = JSON.stringify({ steps: [], output: "x".repeat(4 * MIB) });
    await world.db.toolVersion.updateMany({ where: { toolId: tenant.toolId }, data: { definition } });
    const rejected = await call("/v1/export", { key });
    expect([rejected.status, rejected.body.message]).toEqual([
      400,
      expect.stringContaining("more than 4 MiB"),
    ]);
    const ofAgent = await createKey(world, tenant, { targetIds: [tenant.agentId] });
    const exported = async () => (await call("/v1/export", { key: ofAgent })).body.organizations;
    expect(await exported()).toMatchObject([{ tools: [] }]);
    await world.db.schedule.updateMany({
      where: { organizationId: tenant.orgId },
      data: { input: JSON.stringify("x".repeat(4 * MIB)) },
    });
    expect(await exported()).toMatchObject([{ tools: [] }]);
  });

  it("is rejected if a definition is too deep for a file, or the YAML too long", async () => {
    const { tenant, key } = await open();
    const store = async (levels: number, value: unknown) => {
      const output = Array.from({ length: levels }).reduce<unknown>((inner) => [inner], value);
      const definition = JSON.stringify({ steps: [{ id: "now", uses: "current_time" }], output });
      await world.db.toolVersion.updateMany({ where: { toolId: tenant.toolId }, data: { definition } });
    };
    // A list of organizations, each with a list of tools: five levels around the output.
    await store(95, 1);
    const { body } = await call("/v1/export", { key });
    for (const source of [body, (await exportYaml(key)).text])
      expect((await apply(source, key)).body.definitions).toMatchObject([{ saved: "unchanged" }, {}]);
    await store(96, 1);
    const deep = await call("/v1/export", { key });
    expect([deep.status, deep.body.message]).toEqual([400, expect.stringContaining("deeper than the 100")]);
    await store(90, Array(25_000).fill(0));
    expect((await call("/v1/export", { key })).status).toBe(200);
    expect((await exportYaml(key)).text).toContain("more than 4 MiB");
  });

  it("keeps an output of null", async () => {
    const { tenant, key } = await open();
    const tools = [{ ...CLOCK, output: null }];
    const made = await apply(fileOf(tenant, { tools }), key);
    const { body } = await call("/v1/export", { key });
    expect(body.organizations[0].tools[1]).toEqual(tools[0]);
    for (const source of [body, (await exportYaml(key)).text])
      expect(new Set(savedOf(await apply(source, key)).map((line) => line.split(" ").at(-1)))).toEqual(
        new Set(["unchanged"]),
      );
    const [{ id }] = made.body.definitions;
    expect((await call(`/v1/tools/${id}`, { key })).body.definition).toEqual(tools[0]);
    const { yaml } = await readToolText(world, await createMember(world, tenant), { toolId: id });
    expect(yaml).toContain("output: null");
  });

  it("keeps the digits of numbers in both formats", async () => {
    const { tenant, key } = await open();
    const digits = "8202522731445525542";
    const yaml = `organizations: [{ slug: ${tenant.slug}, tools: [{ slug: exact, name: Exact, steps: [{ id: now, uses: current_time }], output: { id: ${digits} } }] }]`;
    expect((await apply(yaml, key)).status).toBe(200);
    expect((await exportYaml(key)).text).toContain(`id: ${digits}`);
    const response = await fetch(`${origin}/v1/export`, { headers: { "X-API-Key": key } });
    expect(await response.text()).toContain(`{"id":${digits}}`);
  });
});
