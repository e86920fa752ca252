import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { isAppError } from "@/server/base/errors";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { saveAgent } from "@/server/catalog/save-agent";
import { saveTool } from "@/server/catalog/save-tool";
import { createGuardedEgress, type GuardedFetch } from "@/server/guard/egress/guarded-fetch";
import type { Egress } from "@/server/guard/egress/trusted-fetch";
import { findLeaks } from "@/testing/leaks";
import { createMember } from "@/testing/runs";
import { closeServer, listen } from "@/testing/servers/listen";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";

const VALUE = "sk-9aZ+k&q-Sup3r";
const modelCall = z.object({ model: z.string(), messages: z.array(z.object({ content: z.string() })) });

let world: World;
let egress: Egress<GuardedFetch>;
let server: Server;
let host: string;
let tenant: Tenant;
let calls: { key: string | undefined; model: string }[];
let lists: { key: string | undefined; url: string | undefined }[];
let accepted: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    if (request.method === "GET") {
      lists.push({ key: request.headers.authorization, url: request.url });
      const isRight = request.headers.authorization === `Bearer ${accepted}`;
      response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
      response.end(
        JSON.stringify(
          isRight
            ? { data: [{ id: "far/large", max_model_len: 8_192 }, { id: "openai/gpt-4.1" }, { id: VALUE }] }
            : { error: { message: `Wrong key ${request.headers.authorization}` } },
        ),
      );
      return;
    }
    const { model } = modelCall.parse(await json(request));
    const key = request.headers.authorization;
    calls.push({ key, model });
    response.setHeader("content-type", "application/json");
    if (key !== `Bearer ${accepted}`) {
      response.statusCode = 401;
      response.end(JSON.stringify({ error: { message: `Wrong key ${key}` } }));
      return;
    }
    const choices = [{ message: { role: "assistant", content: `ready ${key}` }, finish_reason: "stop" }];
    response.end(JSON.stringify({ choices, usage: { prompt_tokens: 12, completion_tokens: 2 } }));
  });
  const port = await listen(server);
  host = `127.0.0.1:${port}`;
  egress = createGuardedEgress({ allow: [host] });
  world = await createWorld({ fetch: egress.fetch });
});
afterAll(async () => {
  await egress.close();
  await world.close();
  await closeServer(server);
});
beforeEach(async () => {
  tenant = await createTenant(world);
  calls = [];
  lists = [];
  accepted = VALUE;
});

const api = async () =>
  createDashboardCaller({
    services: world,
    actor: await createMember(world, tenant, "admin"),
    requestId: "t",
  }).models;
const far = (part = {}) => ({
  name: "far-away",
  baseUrl: `http://${host}/v1`,
  apiKey: "{{ secrets.far_away }}",
  models: ["far/large", "far/small"],
  ...part,
});
const unknownModel = {
  input: "0.1",
  cachedInput: null,
  cacheWrite: null,
  output: "0.4",
  contextWindow: null,
  maxOutputTokens: null,
  dollars: null,
};
const auditOf = () =>
  world.db.auditEntry.findMany({ where: { organizationId: tenant.orgId }, orderBy: { id: "asc" } });

async function issuesOf(call: Promise<unknown>): Promise<string[]> {
  const error: unknown = await call.then(
    () => null,
    (rejected: unknown) => (rejected instanceof Error ? rejected.cause : rejected),
  );
  if (!isAppError(error)) throw new Error("expected a rejection");
  return (error.issues ?? [{ path: error.code, message: error.message }]).map(
    ({ path, message }) => `${path} ${message}`,
  );
}

it("a provider and its key are added, tested, changed and removed; each is audited and no key is shown", async () => {
  const models = await api();
  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  const [own] = (await models.list()).own;
  expect(own).toEqual({
    provider: far(),
    models: [
      { name: "far/large", ...unknownModel, agents: 0 },
      { name: "far/small", ...unknownModel, agents: 0 },
    ],
    key: { name: "far_away", state: "set", lastUsedAt: null },
  });
  expect(await world.db.secret.findFirst({ where: { organizationId: tenant.orgId } })).toMatchObject({
    name: "far_away",
    allowedHosts: [host],
  });

  expect(await models.test({ name: "far-away", model: "far/small" })).toEqual({
    answered: true,
    text: "ready Bearer [secret far_away]",
    durationMs: expect.any(Number),
    inputTokens: 24,
    outputTokens: 4,
    abilities: expect.arrayContaining([
      { name: "Text", works: true, note: "Works." },
      { name: "Function calls", works: false, note: expect.stringContaining("did not call") },
    ]),
  });
  const call = { key: `Bearer ${VALUE}`, model: "far/small" };
  expect(calls).toEqual([call, call]);
  expect((await models.list()).own[0]?.key?.lastUsedAt).toBe(world.clock.now().toISOString());

  await models.save({ ...far({ models: ["far/large"] }), replaces: far() });
  await models.remove({ name: "far-away" });
  expect((await models.list()).own).toEqual([]);
  const lines = await auditOf();
  expect(lines.map(({ action, subjectName }) => `${action} ${subjectName}`)).toEqual([
    "secret.created far_away",
    "model_provider.created far-away",
    "secret.used far_away",
    "model_provider.tested far-away",
    "model_provider.updated far-away",
    "model_provider.removed far-away",
  ]);
  expect(await findLeaks(world, VALUE, { lines: JSON.stringify(lines) })).toEqual([]);
});

it("a test shows why the provider does not answer, after one call, without the key", async () => {
  const models = await api();
  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  accepted = "another";
  const test = () => models.test({ name: "far-away", model: "far/large" });
  const rejected = await test();
  expect(rejected).toMatchObject({ answered: false, message: expect.stringContaining("far-away") });
  expect(JSON.stringify(rejected)).not.toContain(VALUE);
  expect(calls).toHaveLength(1);

  await models.save({ ...far({ baseUrl: "http://127.0.0.1:9/v1", apiKey: undefined }), replaces: far() });
  expect(await test()).toMatchObject({ answered: false, message: expect.stringContaining("127.0.0.1:9") });
  expect(await issuesOf(models.test({ name: "far-away", model: "gpt-5" }))).toEqual([
    'not_found There is no model provider "far-away".',
  ]);
  expect(calls, "the guard lets no call to a private address out").toHaveLength(1);
});

it("lists what a provider offers with its key, which is audited, and asks again only after some minutes", async () => {
  const models = await api();
  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  const { baseUrl, apiKey } = far();
  const discover = () => models.discover({ baseUrl, apiKey });
  expect(await discover()).toEqual({
    models: [
      { ...unknownModel, name: "far/large", contextWindow: 8_192 },
      expect.objectContaining({ name: "openai/gpt-4.1", contextWindow: 1_047_576, maxOutputTokens: 32_768 }),
      { ...unknownModel, name: "[secret far_away]" },
    ],
    problem: null,
  });
  await discover();
  expect(lists).toEqual([{ key: `Bearer ${VALUE}`, url: "/v1/models" }]);
  expect((await auditOf()).map(({ action }) => action)).toContain("secret.used");
  world.clock.advance(5 * 60_000);
  await discover();
  expect(lists).toHaveLength(2);
});

it("lists with a key that is not saved yet, and says why a provider lists nothing", async () => {
  const models = await api();
  const { baseUrl } = far();
  const found = await models.discover({ baseUrl, keyValue: VALUE });
  expect(found.problem).toBeNull();
  expect(found.models.map(({ name }) => name)).toEqual(["far/large", "openai/gpt-4.1", "[redacted]"]);
  accepted = "another";
  const rejected = await models.discover({ baseUrl, keyValue: VALUE });
  expect(rejected).toMatchObject({ models: [], problem: expect.stringContaining("answered 401") });
  expect(JSON.stringify(rejected)).not.toContain(VALUE);
  expect(await models.discover({ baseUrl: "http://127.0.0.1:9/v1" })).toMatchObject({
    models: [],
    problem: expect.stringContaining("127.0.0.1:9"),
  });
  expect(await models.discover({ baseUrl, apiKey: "{{ secrets.nothing }}" })).toMatchObject({
    problem: expect.stringContaining("nothing"),
  });
  expect(lists).toHaveLength(2);
  // If a provider does not answer, the catalog's models are offered. The guard lets nothing out in this test.
  const known = await models.discover({ baseUrl: "https://api.openai.com/v1" });
  expect(known.problem).not.toBeNull();
  expect(known.models.map(({ name }) => name)).toContain("gpt-4.1");
});

it("tests are limited to 20 in a minute for an organization", async () => {
  const models = await api();
  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  for (let call = 0; call < 20; call += 1) await models.test({ name: "far-away", model: "far/large" });
  await expect(models.test({ name: "far-away", model: "far/large" })).rejects.toThrow("Too Many Requests");
  // Each test makes two calls.
  expect(calls).toHaveLength(40);
});

it("what cannot be saved is rejected at its field, and nothing of it is kept", async () => {
  const models = await api();
  const save = (part: object, more: { keyValue?: string } = { keyValue: VALUE }) =>
    issuesOf(models.save({ ...far(part), ...more, replaces: null }));
  expect(await save({ name: "demo", baseUrl: "far.test", models: [] })).toEqual([
    "/name is taken: demo is built in, openai is OPENAI_*",
    "/baseUrl must be an http or https address",
    "/models must have at least 1 item",
  ]);
  expect(await save({}, { keyValue: "short" })).toEqual([
    expect.stringContaining("/keyValue must have at least 8 characters"),
  ]);
  expect(await save({}, {})).toEqual(['/apiKey there is no secret "far_away"; known secrets: none']);
  expect(await save({ apiKey: undefined })).toEqual(["/apiKey must name the secret for the key"]);
  expect(await world.db.secret.count({ where: { organizationId: tenant.orgId } })).toBe(0);

  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  expect(await save({}, {})).toEqual(['/name is taken: a model provider "far-away" exists']);
  expect(await save({ name: "near", models: ["near", "far/large"] }, {})).toEqual([
    '/models/1 "far/large" is already listed by far-away',
  ]);
  expect(await save({ name: "near", models: ["near"] })).toEqual([
    '/apiKey is taken: a secret "far_away" exists',
  ]);
  expect((await models.list()).own).toHaveLength(1);
});

it("a change of what somebody else has changed meanwhile overwrites nothing", async () => {
  const models = await api();
  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  const theirs = far({ models: ["far/theirs"] });
  await models.save({ ...theirs, replaces: far() });
  await expect(models.save({ ...far({ models: ["far/mine"] }), replaces: far() })).rejects.toThrow(
    /^Somebody changed this model provider since you opened it/,
  );
  expect((await models.list()).own[0]?.provider).toEqual(theirs);
});

it("the page and a definition file make the same records", async () => {
  const models = await api();
  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  const exported = await exportOrganization(world, await operatorOf(world, tenant.slug));
  expect(exported).toContain("name: far-away");
  expect(exported).toContain("{{ secrets.far_away }}");
  expect(await applyDefinitionFile(world, exported)).toMatchObject([{ saved: "unchanged" }]);
  await applyDefinitionFile(world, exported.replace("- far/small", "- far/tiny"));
  expect((await models.list()).own[0]?.provider.models).toEqual(["far/large", "far/tiny"]);
});

it("the agents and tools that use a provider's models are named", async () => {
  const models = await api();
  await models.save({ ...far(), keyValue: VALUE, replaces: null });
  const operator = { kind: "operator", orgId: tenant.orgId, name: "operator" } as const;
  const agent = (slug: string, model: string) =>
    saveAgent(world, operator, { definition: { slug, name: slug, model } });
  const { id } = await agent("uses", "far/large");
  await agent("moved", "far/large");
  await agent("moved", "gpt-5");
  const tool = (slug: string, model: string) =>
    saveTool(world, operator, {
      definition: {
        slug,
        name: slug,
        parameters: { type: "object" },
        steps: [{ id: "text", uses: "generate_text", with: { prompt: "Hi", model } }],
      },
    });
  const writer = await tool("writes", "far/small");
  await tool("other", "far/smaller");
  expect(await models.users({ name: "far-away" })).toEqual([
    { kind: "agent", id, name: "uses" },
    { kind: "tool", id: writer.id, name: "writes" },
  ]);
  const before = await models.list();
  await agent("strange", "listed-nowhere");
  const { own, others } = await models.list();
  expect(own[0]?.models).toMatchObject([
    { name: "far/large", agents: 1 },
    { name: "far/small", agents: 0 },
  ]);
  expect(others.agents).toBe(before.others.agents + 1);
});

it("the service's providers are listed with the default one, without models of the organization's own", async () => {
  const models = await api();
  const before = await models.list();
  expect(before.service.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  expect(before.others).toMatchObject({ input: "0.1", output: "0.4" });
  const [listed] = before.service.flatMap((provider) => provider.models);
  if (listed === undefined) return;
  await models.save({ ...far({ apiKey: undefined, models: [listed.name] }), replaces: null });
  expect((await models.list()).service.flatMap((provider) => provider.models)).not.toContainEqual(listed);
});
