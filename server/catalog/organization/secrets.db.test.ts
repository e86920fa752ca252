import { beforeEach, expect, test } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { secretValuePurpose } from "@/server/guard/secrets/encryption";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { removeDefinition } from "../archive";
import { changeCatalog } from "../change";
import { saveAgent } from "../save-agent";
import { saveTool } from "../save-tool";
import { putSecret, setSecret } from "./secrets";

let tenant: Tenant;
const world = await openWorld();
beforeEach(async () => {
  tenant = await createTenant(world);
});

const VALUE = "a value that nobody reads";
const operator = () => ({ kind: "operator", orgId: tenant.orgId, name: "operator" }) as const;
const find = (name: string) =>
  world.db.secret.findFirstOrThrow({ where: { organizationId: tenant.orgId, name } });
const api = async () =>
  createDashboardCaller({
    services: world,
    actor: await createMember(world, tenant, "admin"),
    requestId: "t",
  }).secrets;

test("a secret is created, replaced and removed; each is audited, and nothing shows its value", async () => {
  const secrets = await api();
  await secrets.create({ name: "api", value: VALUE, hosts: ["API.Test:443", "[::1]:8080"] });
  const created = await find("api");
  expect(created.sealed).not.toContain(VALUE);
  expect(world.encryption.open(created.sealed ?? "", secretValuePurpose(tenant.orgId, "api"))).toBe(VALUE);
  const expiresAt = "2030-01-01T00:00:00+02:00";
  await secrets.replace({ name: "api", value: `${VALUE} 2`, expiresAt, replaces: {} });
  expect(await secrets.list()).toEqual([
    {
      name: "api",
      hosts: ["api.test", "[::1]:8080"],
      waitingHosts: [],
      state: "set",
      expiresAt: "2029-12-31T22:00:00.000Z",
      createdBy: "A admin",
      createdAt: world.clock.now().toISOString(),
      updatedAt: world.clock.now().toISOString(),
      lastUsedAt: null,
    },
  ]);
  await secrets.remove({ name: "api" });
  expect(await secrets.list()).toEqual([]);
  const lines = await world.db.auditEntry.findMany({
    where: { organizationId: tenant.orgId, subjectKind: "secret" },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ action }) => action)).toEqual(["secret.created", "secret.updated", "secret.removed"]);
  expect(JSON.stringify(lines)).not.toContain(VALUE);
});

test("hosts and expiry change without the value, which stays as it is", async () => {
  const secrets = await api();
  await secrets.create({ name: "api", value: VALUE, hosts: ["a.test"] });
  const before = await find("api");
  const rules = { name: "api", hosts: ["b.test"], expiresAt: "2030-01-01T00:00:00Z", replaces: {} };
  expect(await secrets.changeRules(rules)).toMatchObject({ saved: "updated", isSet: true });
  expect(await find("api")).toMatchObject({ sealed: before.sealed, allowedHosts: ["b.test"] });
  expect(await secrets.changeRules(rules)).toMatchObject({ saved: "unchanged" });
  const past = { ...rules, expiresAt: "2001-01-01T00:00:00Z" };
  await expect(secrets.changeRules(past)).rejects.toMatchObject({
    cause: { issues: [{ path: "/expiresAt", message: "is in the past" }] },
  });
  await expect(secrets.changeRules({ ...rules, name: "other" })).rejects.toThrow(
    'There is no secret "other"',
  );
  // An expired secret stays expired when its hosts change.
  await world.db.secret.updateMany({
    where: { organizationId: tenant.orgId, name: "api" },
    data: { expiresAt: new Date(past.expiresAt) },
  });
  await secrets.changeRules({ ...past, hosts: ["c.test"] });
  expect(await find("api")).toMatchObject({ allowedHosts: ["c.test"], expiresAt: new Date(past.expiresAt) });
  const actions = await world.db.auditEntry.findMany({
    where: { organizationId: tenant.orgId, subjectKind: "secret" },
    orderBy: { id: "asc" },
  });
  expect(actions.map(({ action }) => action)).toEqual(["secret.created", "secret.updated", "secret.updated"]);
});

test("rules that somebody else has changed meanwhile are not overwritten", async () => {
  const secrets = await api();
  await secrets.create({ name: "api", value: VALUE, hosts: ["a.test"] });
  const [{ hosts, expiresAt } = { hosts: [], expiresAt: "" }] = await secrets.list();
  const replaces = { hosts, expiresAt };
  const theirs = { name: "api", hosts, expiresAt: "2030-01-01T00:00:00.000Z" };
  await secrets.changeRules({ ...theirs, replaces });
  const mine = { name: "api", hosts: ["b.test"], expiresAt, replaces };
  await expect(secrets.changeRules(mine)).rejects.toThrow(
    /^Somebody changed this secret since you opened it/,
  );
  expect(await secrets.list()).toMatchObject([theirs]);
});

test("a new value keeps an expiry that lies ahead, unless another or none is chosen", async () => {
  const secrets = await api();
  const ahead = "2030-01-01T00:00:00.000Z";
  await secrets.create({ name: "api", value: VALUE, hosts: ["a.test"], expiresAt: ahead });
  const replace = async (expiresAt?: string | null) => {
    await secrets.replace({ name: "api", value: VALUE, expiresAt, replaces: {} });
    return (await secrets.list())[0];
  };
  expect(await replace()).toMatchObject({ expiresAt: ahead });
  expect(await replace(null)).toMatchObject({ expiresAt: null });
  expect(await replace()).toMatchObject({ expiresAt: null });
  const past = { expiresAt: new Date("2001-01-01T00:00:00Z") };
  await world.db.secret.updateMany({ where: { organizationId: tenant.orgId, name: "api" }, data: past });
  await expect(replace(past.expiresAt.toISOString())).rejects.toThrow("is in the past");
  expect(await replace()).toMatchObject({ state: "set", expiresAt: null });
  await replace(ahead);
  const replaces = { hosts: ["a.test"], waitingHosts: [], expiresAt: null };
  await expect(secrets.replace({ name: "api", value: VALUE, replaces })).rejects.toThrow(
    /^Somebody changed this secret/,
  );
});

const RULES = { name: "api", expiresAt: null, replaces: {} };

test("an added host waits until the value is set again; a removed one is gone at once", async () => {
  const secrets = await api();
  await secrets.create({ name: "api", value: VALUE, hosts: ["a.test", "b.test"] });
  const change = async (...hosts: string[]) => {
    const { saved, waitingHosts } = await secrets.changeRules({ ...RULES, hosts });
    expect((await secrets.list())[0]).toMatchObject({ hosts, waitingHosts });
    return { saved, waitingHosts };
  };
  expect(await change("a.test", "c.test")).toEqual({ saved: "updated", waitingHosts: ["c.test"] });
  expect(await change("a.test", "c.test")).toEqual({ saved: "unchanged", waitingHosts: ["c.test"] });
  // A host that was removed is as new as any other.
  expect(await change("a.test", "b.test")).toEqual({ saved: "updated", waitingHosts: ["b.test"] });
  expect((await find("api")).confirmedHosts).toEqual(["a.test"]);
  const replace = (value: string, hosts?: string[]) =>
    secrets.replace({ name: "api", value, hosts, replaces: {} });
  await expect(replace(`${VALUE} 2`)).rejects.toThrow(
    "is required to confirm b.test: name all hosts, as in a.test,b.test",
  );
  await replace(`${VALUE} 2`, ["a.test", "b.test"]);
  expect(await find("api")).toMatchObject({ confirmedHosts: ["a.test", "b.test"] });
  await replace(`${VALUE} 3`, ["d.test"]);
  expect(await find("api")).toMatchObject({ allowedHosts: ["d.test"], confirmedHosts: ["d.test"] });
  const entries = await world.db.auditEntry.findMany({
    where: { organizationId: tenant.orgId, action: "secret.updated" },
    orderBy: { id: "asc" },
  });
  expect(entries.map(({ changes }) => JSON.parse(changes).waitingHosts)).toEqual([
    { from: [], to: ["c.test"] },
    { from: ["c.test"], to: ["b.test"] },
    { from: ["b.test"], to: [] },
    undefined,
  ]);
});

test("a value is not set, and no host confirmed, if other hosts were shown than are stored", async () => {
  const [mine, theirs] = [await api(), await api()];
  await mine.create({ name: "api", value: VALUE, hosts: ["a.test"] });
  const replace = async ({ hosts, waitingHosts } = { hosts: ["a.test"], waitingHosts: [] as string[] }) =>
    mine.replace({ name: "api", value: `${VALUE} 2`, hosts, replaces: { hosts, waitingHosts } });
  const before = await find("api");
  await theirs.changeRules({ ...RULES, hosts: ["a.test", "evil.test"] });
  await expect(replace()).rejects.toMatchObject({
    cause: { code: "conflict", message: expect.stringContaining("the value was not set") },
  });
  expect(await find("api")).toMatchObject({ sealed: before.sealed, confirmedHosts: ["a.test"] });
  const [shown] = await mine.list();
  expect(shown).toMatchObject({ waitingHosts: ["evil.test"] });
  await replace(shown);
  expect(await find("api")).toMatchObject({ confirmedHosts: ["a.test", "evil.test"] });
});

test("no host waits for a secret without a value", async () => {
  await changeCatalog(world, { actor: operator(), role: "admin" }, async (change) => {
    await putSecret(change, { name: "api", hosts: ["a.test"] });
    expect(await putSecret(change, { name: "api", hosts: ["b.test"] })).toMatchObject({ waitingHosts: [] });
  });
  await setSecret(world, operator(), { secret: { name: "api", value: VALUE } });
  expect(await find("api")).toMatchObject({ confirmedHosts: ["b.test"] });
});

test("the tools that refer to a secret in their current version are listed", async () => {
  const secrets = await api();
  for (const name of ["a_b", "axb"]) await secrets.create({ name, value: VALUE, hosts: ["a.test"] });
  const save = (slug: string, token: string) =>
    saveTool(world, operator(), {
      definition: {
        slug,
        name: slug,
        steps: [{ id: "call", uses: "http_request", with: { url: "https://a.test/", headers: { token } } }],
      },
    });
  await save("first", "{{ secrets.a_b }}");
  await save("second", "{{ secrets.axb }}");
  await save("third", "{{ secrets.a_b }}");
  await save("third", "none");
  expect((await secrets.users({ name: "a_b" })).map(({ name }) => name)).toEqual(["first"]);
});

test.each([
  [{ value: "1234567" }, "/value", "must have at least 8 characters"],
  [{ value: "x".repeat(4097) }, "/value", "must have at most 4096 characters"],
  [{ name: "my-secret" }, "/name", "letters, digits and _"],
  [{ hosts: [] }, "/hosts", "at least one host"],
  [{ hosts: ["https://a.test/"] }, "/hosts/0", "must be a host"],
  [{ hosts: ["*.a.test"] }, "/hosts/0", "must be a host"],
  [{ hosts: ["a.test:99999"] }, "/hosts/0", "must be the name or address of a host"],
  [{ expiresAt: "2001-01-01T00:00:00Z" }, "/expiresAt", "is in the past"],
])("%o is rejected", async (change, path, message) => {
  const input = { name: "api", value: VALUE, hosts: ["a.test"], ...change };
  await expect((await api()).create(input)).rejects.toMatchObject({
    cause: { code: "invalid_request", issues: [{ path, message: expect.stringContaining(message) }] },
  });
});

test("a name is taken once, and only what exists is replaced or removed", async () => {
  const secrets = await api();
  const input = { name: "api", value: VALUE, hosts: ["a.test"] };
  await secrets.create(input);
  await expect(secrets.create(input)).rejects.toThrow('a secret "api" exists');
  await expect(secrets.replace({ ...input, name: "other", replaces: {} })).rejects.toThrow(
    'There is no secret "other"',
  );
  await expect(secrets.remove({ name: "other" })).rejects.toThrow('There is no secret "other"');
});

test("a definition may refer to known secrets where they can be sent, and every other use is named", async () => {
  await setSecret(world, operator(), { secret: { name: "github", value: VALUE, hosts: ["api.github.com"] } });
  const call = (with_: object, more: object = {}) => ({
    id: "call",
    uses: "http_request",
    with: { url: "https://api.github.com/", ...with_ },
    ...more,
  });
  const save = (step: object, more: object = {}) =>
    saveTool(world, operator(), {
      definition: {
        slug: "t",
        name: "T",
        steps: [step as ReturnType<typeof call>],
        ...more,
      },
    }).then(
      () => [],
      (error: { issues: { path: string; message: string }[] }) =>
        error.issues.map(({ path, message }) => `${path} ${message}`),
    );
  const key = "{{ secrets.github }}";
  expect(
    await save(
      call({
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        query: { key: [key] },
        form: { a: "{{secrets.github}}" },
        basicAuth: { username: "x", password: key },
      }),
    ),
  ).toEqual([]);
  const places = "they can be used in url, headers, query, body, form, multipart, basicAuth of http_request";
  expect(await save(call({ headers: { a: "{{ secrets.gitlab }}" } }))).toEqual([
    '/steps/0/with/headers/a there is no secret "gitlab"; known secrets: github',
  ]);
  for (const url of [`https://api.github.com/bot${key}/send`, `https://api.github.com?key=${key}`])
    expect(await save(call({ url }))).toEqual([]);
  for (const url of [
    key,
    `https://${key}/`,
    `https://{{ input.host }}/${key}`,
    `https://api.github.com{{ input.rest }}/${key}`,
    `https://me@api.github.com/${key}`,
    `//api.github.com/${key}`,
  ])
    expect(await save(call({ url }))).toEqual([
      "/steps/0/with/url the host must be written out before a secret, as in https://api.example.com/{{ secrets.NAME }}",
    ]);
  expect(await save(call({ headers: { a: "{{ $uppercase(secrets.github) }}" } }))).toEqual([
    "/steps/0/with/headers/a a secret must stand alone in its braces: {{ secrets.github }}",
  ]);
  expect(await save(call({}, { if: "secrets.github = 'a'" }))).toEqual([
    `/steps/0/if secrets cannot be used here; ${places}`,
  ]);
  expect(await save(call({}), { output: { leak: key } })).toEqual([
    `/output/leak secrets cannot be used here; ${places}`,
  ]);
  expect(await save({ id: "c", uses: "transform_json", with: { value: key, expression: "$" } })).toEqual([
    `/steps/0/with/value secrets cannot be used here; ${places}`,
  ]);
  expect(await save(call({}, { forEach: "[1]", as: "secrets" }))).toEqual([
    '/steps/0/as "secrets" is taken; choose another name',
  ]);
  await expect(
    saveAgent(world, operator(), {
      definition: { slug: "a", name: "A", model: "m", systemPrompt: `Your key is ${key}.` },
    }),
  ).rejects.toThrow("cannot refer to secrets");
  await removeDefinition(world, operator(), { kind: "tool", slug: "t" });
});
