import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyPassword } from "better-auth/crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "@/server/base/ids";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { rotateCallbackSecret } from "@/server/catalog/callbacks/change-callback";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { createEncryption } from "@/server/guard/secrets/encryption";
import { storeAppUrl } from "@/server/operate/app-url";
import { endOverdueRuns } from "@/server/operate/overdue-runs";
import { startRun } from "@/server/runs/start";
import type { Services } from "@/server/services";
import { callCommandLine } from "@/testing/command-line";
import { executeRun } from "@/testing/execute";
import { createProcess } from "@/testing/process";
import { createMember, insertRun } from "@/testing/runs";
import { EVENT_KEY, openInTest, SIGNING_KEY } from "@/testing/servers/inngest-server";
import { createTenant, createTrigger, createWorld, type Tenant, type World } from "@/testing/world";

let world: World;
let folder: string;
beforeAll(async () => {
  world = await createWorld();
  folder = await mkdtemp(join(tmpdir(), "stepwell-cli-"));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const call = (argv: string[], { services = world as Services, ...answers }: Given = {}) =>
  callCommandLine(services, argv, answers);
type Given = { services?: Services; password?: string; line?: string; secret?: string };

async function writeDefinition(name: string, source: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, source);
  return file;
}

const acme = (slug: string) => `organizations:
  - slug: ${slug}
    credits: 10
    members: [{ email: ada@${slug}.test, password: correct horse, role: owner }]
    apiKeys: [{ name: ci }]
    agents: [{ slug: helper, name: Helper, model: m }]
    triggers: [{ slug: inbound, agent: helper }]
    schedules: [{ slug: daily, agent: helper, cron: 0 8 * * *, message: Hello }]
`;

test("migrate brings the database to this version, and again changes nothing", async () => {
  const done = { code: 0, out: "The database has the schema of this version.\n", err: "" };
  expect(await call(["migrate"])).toEqual(done);
  const { pool, env } = world;
  const name = `empty_${newId().replaceAll("-", "")}`;
  await pool.query(`CREATE DATABASE ${name}`);
  const databaseUrl = Object.assign(new URL(env.databaseUrl), { pathname: `/${name}` }).href;
  const empty = await call(["migrate"], { services: { ...world, env: { ...env, databaseUrl } } });
  await pool.query(`DROP DATABASE ${name}`);
  expect(empty).toMatchObject({
    code: 0,
    out: done.out,
    err: expect.stringMatching(/Migrated the database/),
  });
});

test("apply --json prints exactly one object, with the key only the first time", async () => {
  const file = await writeDefinition("acme.yaml", acme("acme"));
  const first = await call(["apply", file, "--json"]);
  expect(first.code).toBe(0);
  const { organizations } = JSON.parse(first.out);
  const [organization] = organizations;
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const token = expect.stringMatching(/^[\w-]{32}$/);
  expect(organizations).toEqual([
    {
      slug: "acme",
      id: uuid,
      agents: [{ slug: "helper", id: uuid }],
      tools: [],
      triggers: [
        {
          slug: "inbound",
          id: uuid,
          token,
          url: `http://stepwell.test/webhooks/${organization.triggers[0].token}`,
        },
      ],
      callbacks: [],
      schedules: [{ slug: "daily", id: uuid }],
      apiKeys: [{ name: "ci", key: expect.stringMatching(/^sw_live_\w{40}$/) }],
    },
  ]);
  expect(first.err).toContain("created    agent helper (version 1)");
  expect(first.err).not.toContain(organization.apiKeys[0].key);
  expect(first.err).not.toContain(organization.triggers[0].token);

  const second = await call(["apply", file, "--json"]);
  const [again] = JSON.parse(second.out).organizations;
  expect(again).toEqual({ ...organization, apiKeys: [{ name: "ci" }] });
  expect(second.err).toContain("unchanged");
});

test("apply without --json prints what changed and shows the key once", async () => {
  const file = await writeDefinition("plain.yaml", acme("plain"));
  const first = await call(["apply", file]);
  expect(first.out).toMatch(/The key ci, shown this once: sw_live_\w{40}/);
  const second = await call(["apply", file]);
  expect(second).toMatchObject({ code: 0, out: "plain\n  unchanged\n", err: "" });
  await writeDefinition("plain.yaml", acme("plain").replace("model: m", "model: n"));
  const third = await call(["apply", file]);
  expect(third.out).toBe("plain\n  updated    agent helper (version 2)\n  unchanged  5 more\n");
});

test("an invalid file is reported with line numbers, on standard error only", async () => {
  const file = await writeDefinition("bad.yaml", acme("bad").replace("model: m", "model: ''"));
  expect(await call(["apply", file, "--json"])).toEqual({
    code: 1,
    out: "",
    err: `${file} was not applied. Nothing has changed.\n  organizations[0].agents[0].model (line 6) must not be empty\n`,
  });
  expect(await call(["apply", join(folder, "none.yaml")])).toEqual({
    code: 1,
    out: "",
    err: `Could not read ${join(folder, "none.yaml")}: the file does not exist.\n`,
  });
  const latin = join(folder, "latin.yaml");
  await writeFile(latin, "organizations: [{ slug: latin, name: Müller }]", "latin1");
  expect(await call(["apply", latin])).toEqual({
    code: 1,
    out: "",
    err: `Could not read ${latin}: it is not UTF-8.\n`,
  });
});

test("issues of a file's form and of its contents are printed together", async () => {
  const source = acme("mixed")
    .replace("credits: 10", "credits: x")
    .replace("agent: helper", "agent: nobody")
    .replace("model: m", "model: m, functions: [fly], maxSteps: 13");
  const file = await writeDefinition("mixed.yaml", source);
  const { code, err } = await call(["apply", file]);
  expect([code, ...err.trim().split("\n")]).toEqual([
    1,
    `${file} was not applied. Nothing has changed.`,
    expect.stringMatching(/^ {2}organizations\[0\]\.credits \(line 3\) must be a number/),
    "  organizations[0].agents[0].maxSteps (line 6) must be at most 12",
    expect.stringMatching(
      /^ {2}organizations\[0\]\.agents\[0\]\.functions\[0\] \(line 6\) "fly" is not a function/,
    ),
    '  organizations[0].triggers[0].agent (line 7) "nobody" is not an agent of the organization. Known agents: helper',
  ]);
});

test("a removed agent starts nothing, and its file restores it", async () => {
  const file = await writeDefinition("removed.yaml", acme("removed"));
  const [before] = JSON.parse((await call(["apply", file, "--json"])).out).organizations;
  expect(await call(["remove", "removed", "agent", "helper"])).toMatchObject({ code: 0 });
  expect((await call(["export", "removed"])).out).not.toContain("helper");
  expect(await call(["remove", "removed", "agent", "helper"])).toMatchObject({
    code: 1,
    err: 'There is no agent "helper".\n',
  });
  const [after] = JSON.parse((await call(["apply", file, "--json"])).out).organizations;
  expect(after.agents).toEqual(before.agents);
});

test("export prints what apply accepts, with the empty lines at the end of the last text", async () => {
  const tenant = await createTenant(world);
  const source = `organizations:
  - slug: ${tenant.slug}
    agents: [{ slug: greeter, name: Greeter, model: m }]
    schedules: [{ slug: daily, agent: greeter, cron: 0 8 * * *, message: "Good\\u200e morning\\n\\n\\n" }]
`;
  expect(await call(["apply", await writeDefinition("greeter.yaml", source)])).toMatchObject({ code: 0 });
  const exported = await call(["export", tenant.slug]);
  expect(exported.code).toBe(0);
  const file = await writeDefinition("exported.yaml", exported.out);
  expect((await call(["apply", file])).out).toBe(`${tenant.slug}\n  unchanged\n`);
});

test("export fails after it printed a file that apply would reject", async () => {
  const tenant = await createTenant(world);
  const output = Array.from({ length: 96 }).reduce<unknown>((inner) => [inner], 1);
  const definition = JSON.stringify({ steps: [{ id: "now", uses: "current_time" }], output });
  await world.db.toolVersion.updateMany({ where: { toolId: tenant.toolId }, data: { definition } });
  const exported = await call(["export", tenant.slug]);
  expect(exported).toMatchObject({ code: 1, out: expect.stringContaining(`slug: ${tenant.slug}\n`) });
  const file = await writeDefinition("deep.yaml", exported.out);
  const { err } = await call(["apply", file]);
  const issues = err.split("\n").slice(1).join("\n");
  expect(issues).toContain("nests deeper than 100 levels");
  expect(exported.err).toBe(`The file is printed, but \`apply\` would reject it:\n${issues}`);
});

test("keys are created on standard output, and revoked by name or prefix", async () => {
  const tenant = await createTenant(world);
  const made = await call([
    "keys",
    "create",
    tenant.slug,
    "deploy",
    "--scopes",
    "runs:read",
    "--expires",
    "30d",
  ]);
  expect(made.code).toBe(0);
  const key = made.out.trim();
  const actor = await authenticateKey(world, key);
  expect(actor).toMatchObject({ name: "deploy", scopes: ["runs:read"], orgId: tenant.orgId });
  const row = await world.db.apiKey.findUniqueOrThrow({ where: { id: actor.apiKeyId } });
  expect(row.expiresAt?.toISOString()).toBe("2026-12-21T01:22:07.000Z");

  expect(await call(["keys", "create", tenant.slug, "deploy"])).toMatchObject({
    code: 1,
    out: "",
    err: 'name is taken: a key "deploy" exists; revoke it first or choose another name\n',
  });
  const listed = await call(["keys", "list", tenant.slug]);
  expect(listed.out).toMatch(/^deploy +sw_live_\w{4} +active +runs:read +2026-12-21/m);
  expect(listed.out).not.toContain(key);

  const other = await createTenant(world);
  expect(await call(["keys", "revoke", other.slug, row.prefix])).toMatchObject({ code: 1 });
  expect(await call(["keys", "revoke", tenant.slug, row.prefix])).toMatchObject({ code: 0 });
  await expect(authenticateKey(world, key)).rejects.toThrow("was revoked");
  expect((await call(["keys", "revoke", tenant.slug, "deploy"])).out).toContain("Nothing has changed");
});

test("a removed callback is neither exported nor sent to", async () => {
  const callbacks = '    callbacks: [{ slug: erp, url: "https://erp.test", events: [run.failed] }]\n';
  await call(["apply", await writeDefinition("no-callback.yaml", acme("no-callback") + callbacks)]);
  const remove = () => call(["remove", "no-callback", "callback", "erp"]);
  expect(await remove()).toMatchObject({ code: 0, out: "The callback erp is removed.\n" });
  expect((await call(["export", "no-callback"])).out).not.toContain("erp");
  const { hasCallbacks } = await world.db.organization.findUniqueOrThrow({ where: { slug: "no-callback" } });
  expect(hasCallbacks).toBe(false);
  expect(await remove()).toMatchObject({ code: 1, err: 'There is no callback "erp".\n' });
});

test("a secret is declared by a file, set from standard input, listed without its value, and removed", async () => {
  const file = await writeDefinition(
    "secrets.yaml",
    `organizations:
  - slug: secretive
    secrets: [{ name: github, hosts: [API.github.com, "localhost:8080"] }]
    tools:
      - slug: me
        name: Me
        steps:
          - id: get
            uses: http_request
            with: { url: https://api.github.com/user, headers: { authorization: "Bearer {{ secrets.github }}" } }
`,
  );
  const applied = await call(["apply", file]);
  expect(applied.code).toBe(0);
  expect(applied.out).toContain(
    "The secret github has no value yet. Set it: npm run -s stepwell -- secrets set secretive github",
  );

  const secret = "ghp_0123456789abcdef";
  expect(await call(["secrets", "set", "secretive", "github", "--expires", "90d"], { secret })).toEqual({
    code: 0,
    out: expect.stringMatching(
      /^The secret github is set\. It may be sent to api\.github\.com, localhost:8080, and expires at 20\S+Z\.$/m,
    ),
    err: "",
  });
  expect(await call(["secrets", "set", "secretive", "other", "--hosts", "a.test"], { secret })).toMatchObject(
    {
      out: "The secret other is created. It may be sent to a.test, and never expires.\n",
    },
  );
  const listed = await call(["secrets", "list", "secretive"]);
  expect(listed.out).toMatch(/^github +set +api\.github\.com,localhost:8080 +20\S+Z +never +operator$/m);
  expect((await call(["apply", file])).out).toBe("secretive\n  unchanged\n");

  const moved = await writeDefinition(
    "moved.yaml",
    (await readFile(file, "utf8")).replace('"localhost:8080"', "b.test"),
  );
  const waits =
    "The secret github may not be sent to b.test yet. Set it again: npm run -s stepwell -- secrets set secretive github --hosts api.github.com,b.test";
  expect((await call(["apply", moved])).out).toContain(waits);
  expect((await call(["apply", moved])).out).toBe("secretive\n  unchanged\n");
  const list = async () => (await call(["secrets", "list", "secretive"])).out;
  expect(await list()).toMatch(/^github +set +api\.github\.com,b\.test \(waits\) /m);
  expect(await call(["secrets", "set", "secretive", "github"], { secret })).toEqual({
    code: 1,
    out: "",
    err: "hosts is required to confirm b.test: name all hosts, as in api.github.com,b.test\n",
  });
  expect(await list()).toContain("b.test (waits)");
  const hosts = ["--hosts", "api.github.com,b.test"];
  expect(await call(["secrets", "set", "secretive", "github", ...hosts], { secret })).toMatchObject({
    out: expect.stringMatching(/ It may be sent to api\.github\.com, b\.test, and expires at 20\S+Z\.$/m),
  });
  expect(await list()).toMatch(/^github +set +api\.github\.com,b\.test +20\S+Z /m);
  expect(
    await call(["secrets", "set", "secretive", "github", "--expires", "never"], { secret }),
  ).toMatchObject({ out: expect.stringMatching(/, and never expires\.$/m) });
  const exported = await call(["export", "secretive"]);
  expect(exported.out).toContain("- name: github");
  for (const { out } of [listed, exported]) expect(out).not.toContain(secret);

  expect(
    await call(["secrets", "set", "secretive", "short", "--hosts", "a.test"], { secret: "1234567" }),
  ).toMatchObject({
    code: 1,
    err: expect.stringContaining("value must have at least 8 characters"),
  });
  expect(await call(["secrets", "set", "secretive", "hostless"], { secret })).toMatchObject({
    code: 1,
    err: expect.stringContaining("hosts is required"),
  });
  expect(await call(["secrets", "remove", "secretive", "other"], { line: "no" })).toMatchObject({ code: 1 });
  expect(await call(["secrets", "remove", "secretive", "other", "--yes"])).toMatchObject({
    out: "The secret other is removed.\n",
  });
  expect((await call(["secrets", "list", "secretive"])).out).not.toContain("other");
});

test("credits are granted with a note", async () => {
  const tenant = await createTenant(world, { credits: "1" });
  const granted = await call(["credits", "grant", tenant.slug, "2.5", "--note", "July"]);
  expect(granted).toMatchObject({
    code: 0,
    out: `Granted 2.5 credits to ${tenant.slug}. Balance: 3.5.\n`,
  });
  const entries = await world.db.creditEntry.findMany({ where: { organizationId: tenant.orgId } });
  expect(entries.at(-1)).toMatchObject({ kind: "grant", note: "July", actor: "operator" });
  for (const amount of ["0", "1.00001", "many", "1e3"]) {
    expect(await call(["credits", "grant", tenant.slug, amount])).toMatchObject({ code: 1, out: "" });
  }
  expect(await call(["credits", "show", tenant.slug])).toMatchObject({ out: "3.5\n" });
});

test("an ended run is refunded once, with a note", async () => {
  const tenant = await createTenant(world, { credits: "1" });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const request = { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } } as const;
  const { runId } = await startRun(world, actor, request);
  await executeRun(world, runId);
  expect((await call(["credits", "refund", tenant.slug, runId])).code).toBe(2);
  const refund = ["credits", "refund", tenant.slug, runId, "--note", "It was wrong."];
  expect(await call(refund)).toMatchObject({
    code: 0,
    out: `Refunded 0.01 credits to ${tenant.slug}. Balance: 1.\n`,
  });
  expect(await call(refund)).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("nothing to refund"),
  });

  const { runId: gone } = await startRun(world, actor, request);
  await executeRun(world, gone);
  await world.db.run.delete({ where: { id: gone } });
  expect((await call(["credits", "refund", tenant.slug, gone, "--note", "It was wrong."])).out).toBe(
    `Refunded 0.01 credits to ${tenant.slug}. Balance: 1.\n` +
      "The run is deleted, so charges of runs that it called are not included. Refund each by its id.\n",
  );
});

test("users are created, made members, and get another password", async () => {
  const tenant = await createTenant(world);
  const email = "Grace@people.test";
  expect(await call(["users", "create", email], { password: "short" })).toMatchObject({ code: 1 });
  const made = await call(["users", "create", email, "--org", tenant.slug, "--role", "admin"], {
    password: "a long password",
  });
  expect(made).toMatchObject({ code: 0, out: `grace@people.test is now admin of ${tenant.slug}.\n` });
  const passwordOf = async () => {
    const account = await world.db.account.findFirstOrThrow({
      where: { user: { email: "grace@people.test" } },
    });
    expect(account).toMatchObject({ providerId: "credential", accountId: account.userId });
    return account.password ?? "";
  };
  expect(await verifyPassword({ hash: await passwordOf(), password: "a long password" })).toBe(true);

  expect(await call(["users", "create", email], { password: "a long password" })).toMatchObject({ code: 1 });
  const other = await createTenant(world);
  const warning =
    `Warning: grace@people.test had an account already, as a member of ${tenant.slug}, and keeps its password. ` +
    "If others may know it: npm run -s stepwell -- users password grace@people.test\n";
  const add = ["users", "create", email, "--org", other.slug];
  expect((await call(add)).out).toBe(`grace@people.test is now member of ${other.slug}.\n${warning}`);
  expect((await call(add)).out).toBe(`grace@people.test is already member of ${other.slug}.\n`);
  const addAgain = await call(["users", "create", email, "--org", tenant.slug]);
  expect(addAgain.out).toBe(`grace@people.test is already admin of ${tenant.slug}.\n`);

  const member = "{ email: grace@people.test, password: a password of hers }";
  const file = await writeDefinition("known.yaml", `organizations: [{ slug: known, members: [${member}] }]`);
  const applied = (await call(["apply", file])).out;
  for (const text of ["  Warning: grace@people.test", tenant.slug, other.slug])
    expect(applied).toContain(text);
  expect((await call(["apply", file])).out).not.toContain("Warning");
  const owned = await call(["organizations", "create", "owned", "--owner", email]);
  expect(owned.out).toContain("Warning: grace@people.test had an account already");

  expect((await call(["users", "password", email, "--password", "another password"])).code).toBe(0);
  expect(await verifyPassword({ hash: await passwordOf(), password: "another password" })).toBe(true);
});

test("texts of tenants neither control the operator's terminal nor forge a row", async () => {
  const tenant = await createTenant(world);
  const name = "A\x1b]0;pwned\x07\nzz Forged\u202e\x9b";
  const args = ["users", "create", "forger@people.test", "--name", name];
  expect(await call(args, { password: "a long password" })).toMatchObject({ code: 0 });
  expect((await call(["users", "list"])).out).toContain(
    "  A\\x1b]0;pwned\\x07\\x0azz Forged\\u{202e}\\x9b\n",
  );
  const run = await insertRun(world, tenant, { input: '"a\x1b[2J"', output: "one\n\ttwo\rthree" });
  const { out } = await call(["runs", "show", run]);
  expect(out).toContain('input         "a\\x1b[2J"\n');
  expect(out).toContain("output        one\n\ttwo\\x0dthree\n");

  await call(["keys", "create", tenant.slug, name]);
  expect((await call(["keys", "revoke", tenant.slug, name])).out).toMatch(
    /^The key A\\x1b\]0;pwned\\x07\\x0azz Forged\\u\{202e\}\\x9b \(sw_live_\w{4}…\) is revoked\.\n$/,
  );

  const output = { "\x1b[2J": "\0" };
  const definition = JSON.stringify({ steps: [{ id: "now", uses: "current_time" }], output });
  await world.db.toolVersion.updateMany({ where: { toolId: tenant.toolId }, data: { definition } });
  const { err } = await call(["export", tenant.slug]);
  expect(err).toContain("\\x1b[2J");
  expect(err).not.toContain("\x1b");
});

test("off-boarding changes a role, a membership and the account, each audited", async () => {
  const [first, second] = [await createTenant(world), await createTenant(world)];
  const email = "leaver@people.test";
  for (const { slug } of [first, second]) {
    await call(["users", "create", email, "--org", slug, "--role", "owner"], { password: "a long password" });
  }
  const { id: userId } = await world.db.user.findUniqueOrThrow({ where: { email } });
  await world.db.apiKey.update({
    where: { id: second.apiKeyId },
    data: { createdBy: `user:${userId}` },
  });
  const expired = { createdBy: `user:${userId}`, expiresAt: world.clock.now() };
  await world.db.apiKey.update({ where: { id: first.apiKeyId }, data: expired });
  const lastOwner = await call(["members", "role", first.slug, email, "viewer"]);
  expect(lastOwner).toMatchObject({ code: 1, err: expect.stringContaining("at least one owner") });
  expect(await call(["members", "remove", first.slug, email])).toMatchObject({ code: 1 });
  expect(await call(["users", "remove", email, "--yes"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("is the last owner of"),
  });

  const heir = "heir@people.test";
  for (const { slug } of [first, second]) {
    await call(["users", "create", heir, "--org", slug, "--role", "owner"], { password: "a long password" });
  }
  expect(await call(["members", "role", first.slug, email, "viewer"])).toMatchObject({ code: 0 });
  expect(await call(["members", "remove", first.slug, email])).toMatchObject({
    out: `${email} is no longer a member of ${first.slug}.\n`,
  });
  expect((await call(["members", "list", first.slug])).out).not.toContain(email);
  expect(await call(["members", "role", first.slug, email, "admin"])).toMatchObject({
    code: 1,
    err: `${email} is not a member of ${first.slug}.\n`,
  });

  expect(await call(["users", "remove", email], { line: "another" })).toMatchObject({
    code: 1,
    err: "Not confirmed; nothing has changed.\n",
  });
  const removed = await call(["users", "remove", email], { line: email });
  expect(removed.out).toContain(`${email} is removed and no longer a member of ${second.slug}.`);
  const { prefix } = await world.db.apiKey.findUniqueOrThrow({ where: { id: second.apiKeyId } });
  expect(removed.out).toContain(`keep working: ci (${second.slug}).`);
  expect(removed.out).toContain(`keys revoke ${second.slug} ${prefix}\n`);
  expect(await world.db.user.findUnique({ where: { email } })).toBeNull();
  expect(await world.db.account.count({ where: { userId } })).toBe(0);
  expect((await call(["users", "list"])).out).not.toContain(email);

  const lines = await world.db.auditEntry.findMany({
    where: { subjectId: userId },
    orderBy: { id: "asc" },
    select: { action: true, organizationId: true },
  });
  expect(lines).toEqual([
    { action: "member.created", organizationId: first.orgId },
    { action: "member.created", organizationId: second.orgId },
    { action: "member.updated", organizationId: first.orgId },
    { action: "member.removed", organizationId: first.orgId },
    { action: "member.removed", organizationId: second.orgId },
    { action: "user.removed", organizationId: null },
  ]);
});

test("an organization is removed after its slug is typed; only --force cancels its runs", async () => {
  const tenant = await createTenant(world);
  await addRun(tenant);
  const typo = await call(["organizations", "remove", tenant.slug], { line: "acme" });
  expect(typo).toMatchObject({ code: 1, err: "Not confirmed; nothing has changed.\n" });
  const rejected = await call(["organizations", "remove", tenant.slug], { line: tenant.slug });
  expect(rejected).toMatchObject({ code: 1, err: expect.stringContaining("1 run is open") });
  const removed = await call(["organizations", "remove", tenant.slug, "--yes", "--force"]);
  expect(removed).toMatchObject({ code: 0, out: `${tenant.slug} is removed.\n` });
  expect((await call(["organizations", "list"])).out).not.toContain(tenant.slug);
  const audit = await call(["audit", "list", "--limit", "1"]);
  expect(audit.out).toMatch(new RegExp(` operator +organization\\.removed +${tenant.slug} `));
});

test("service-secret rotate needs both secrets, then encrypts everything with the new one", async () => {
  const old = await createWorld();
  try {
    const NEW = "a new secret of at least thirty-two characters";
    const file = await writeDefinition("rotated.yaml", acme("rotated"));
    await call(["apply", file, "--json"], { services: old });
    expect(await call(["service-secret", "rotate"], { services: old })).toMatchObject({
      code: 1,
      err: expect.stringContaining("Set STEPWELL_SECRET to the new secret"),
    });
    const encryption = createEncryption(NEW, old.env.secret);
    const rotating = { ...old, encryption, env: { ...old.env, secret: NEW } };
    const doctor = async () => (await call(["doctor"], { services: rotating })).out;
    expect(await doctor()).toContain("run `service-secret rotate`");
    const rotated = await call(["service-secret", "rotate"], { services: rotating });
    expect(rotated.out).toContain("1 stored secrets are now encrypted with STEPWELL_SECRET.");
    expect(await doctor()).toContain("The rotation is complete");
    // A process that was not restarted yet saves another.
    await createTrigger(old, await createTenant(old));
    expect(await doctor()).toContain("run `service-secret rotate` again");
    await call(["service-secret", "rotate"], { services: rotating });
    expect(await doctor()).toContain("The rotation is complete");
    expect((await call(["doctor"], { services: { ...old, encryption: createEncryption(NEW) } })).out).toMatch(
      /^ok +secret /m,
    );
  } finally {
    await old.close();
  }
});

async function addRun(tenant: Tenant): Promise<string> {
  const id = newId();
  const at = world.clock.now();
  const hash = new Uint8Array(32);
  await world.db.configuration.create({
    data: { organizationId: tenant.orgId, hash, document: "{}", createdAt: at },
  });
  await world.db.run.create({
    data: {
      id,
      rootRunId: id,
      organizationId: tenant.orgId,
      kind: "agent",
      agentId: tenant.agentId,
      targetName: "Helper",
      targetVersion: 1,
      model: "m",
      configurationHash: hash,
      source: "operator",
      input: "What is 1 + 1?",
      createdAt: at,
      deadlineSeconds: 900,
    },
  });
  return id;
}

test("runs are listed, shown and cancelled", async () => {
  const tenant = await createTenant(world);
  const id = await addRun(tenant);
  expect((await call(["runs", "list", tenant.slug, "--status", "pending"])).out).toContain(id);
  expect((await call(["runs", "list", tenant.slug, "--status", "failed"])).out).toBe("");
  expect((await call(["runs", "show", id])).out).toMatch(/^input +What is 1 \+ 1\?$/m);
  expect(await call(["runs", "cancel", id])).toMatchObject({ code: 0, out: "The run is Cancelled.\n" });
  expect((await call(["runs", "cancel", id])).out).toBe("The run had already ended: it is Cancelled.\n");
  expect(await call(["runs", "show", newId()])).toMatchObject({ code: 1, out: "" });
});

test("runs cancel tells whether a process is alive to end the run", async () => {
  const crashed = await createWorld();
  const web = createProcess(crashed, { env: { STEPWELL_ROLE: "web" } });
  const process = createProcess(crashed);
  try {
    const tenant = await createTenant(crashed);
    const id = await insertRun(crashed, tenant, { status: "Running", admitted: true });
    await crashed.pool.query(
      "INSERT INTO workers (id, heartbeat_at) VALUES ('dead', now() - interval '1 minute')",
    );
    await crashed.db.run.update({ where: { id }, data: { claimedBy: "dead" } });
    await crashed.db.organization.update({ where: { id: tenant.orgId }, data: { inFlight: 1 } });
    const cancel = async () => (await call(["runs", "cancel", id], { services: crashed })).out;
    const waits = "No process executes runs. The run will be cancelled when one starts.\n";
    expect(await cancel()).toBe(waits);
    await (await web.engine.worker()).confirm();
    expect(await cancel()).toBe(waits);

    // It reports, and takes over the run.
    await (await process.engine.worker()).confirm();
    await expect.poll(() => crashed.db.run.count({ where: { id, claimedBy: null } })).toBe(1);
    await endOverdueRuns(process);
    expect(await cancel()).toBe("The run had already ended: it is Cancelled.\n");

    const next = await insertRun(crashed, tenant, { status: "Running", admitted: true });
    const { id: alive } = await process.engine.worker();
    await crashed.db.run.update({ where: { id: next }, data: { claimedBy: alive } });
    expect((await call(["runs", "cancel", next], { services: crashed })).out).toBe(
      "The run is being cancelled. It ends within 30 seconds.\n",
    );
  } finally {
    await web.stop();
    await process.stop();
    await crashed.close();
  }
});

test("a suspended organization starts nothing, its runs are cancelled, until it is resumed", async () => {
  const tenant = await createTenant(world);
  const id = await addRun(tenant);
  const other = await createTenant(world);
  const untouched = await addRun(other);
  const justLetIn = await authenticateKey(world, tenant.key);
  const suspended = await call(["organizations", "suspend", tenant.slug, "--reason", "unpaid"]);
  expect(suspended).toMatchObject({ code: 0, out: `${tenant.slug} is suspended; 1 run was cancelled.\n` });
  const run = await world.db.run.findUniqueOrThrow({ where: { id } });
  expect(run).toMatchObject({ status: "Cancelled", cancelledBy: "the organization's suspension" });
  expect((await world.db.run.findUniqueOrThrow({ where: { id: untouched } })).status).toBe("Pending");
  expect((await authenticateKey(world, tenant.key)).suspended).toBe(true);
  const late = startRun(world, justLetIn, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" });
  await expect(late).rejects.toMatchObject({ code: "organization_suspended" });
  expect((await call(["organizations", "list"])).out).toMatch(
    new RegExp(`^${tenant.slug} .* suspended `, "m"),
  );

  expect((await call(["organizations", "resume", tenant.slug])).out).toContain("may start runs again");
  expect((await call(["organizations", "resume", tenant.slug])).out).toContain("was not suspended");
  expect((await authenticateKey(world, tenant.key)).suspended).toBe(false);
});

test.each([
  [["aply"], 'There is no command "aply".'],
  [["keys"], '"keys" is incomplete. Commands: keys create, keys list, keys revoke.'],
  [["keys", "make"], 'There is no command "keys make".'],
  [["apply"], "FILE.yaml is missing."],
  [
    ["remove", "acme", "run", "x"],
    '"run" is not a kind. Use one of agent, tool, trigger, schedule, callback.',
  ],
  [["apply", "a", "b"], 'Unexpected argument "b".'],
  [["apply", "a", "--jsno"], "Unknown option '--jsno'."],
  [["runs", "list", "--limit", "0"], "--limit must be a whole number from 1 to 1000."],
  [["runs", "list", "--status", "gone"], '"gone" is not a status'],
  [["users", "create", "a@b.test", "--role", "owner"], "--role needs --org ORG"],
])("%j is wrong usage and reports it", async (argv, message) => {
  const { code, out, err } = await call(argv);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain(message);
  expect(err).not.toContain("    at ");
});

test.each([
  [["export", "nobody"], 'There is no organization "nobody".\n'],
  [["credits", "grant", "nobody", "1"], 'There is no organization "nobody".\n'],
  [["runs", "show", "x"], 'There is no run "x".\n'],
])("%j fails with a sentence", async (argv, message) => {
  expect(await call(argv)).toEqual({ code: 1, out: "", err: message });
});

test("help lists every command and describes one", async () => {
  const help = await call(["help"]);
  expect(help.code).toBe(0);
  for (const name of ["apply FILE.yaml", "export ORG", "doctor", "service-secret adopt"])
    expect(help.out).toContain(name);
  // Such as `secret` and `secrets`.
  const nouns = new Set(help.out.split("\n").map((line) => /^ {2}([a-z-]+)/.exec(line)?.[1] ?? ""));
  expect([...nouns].filter((noun) => noun !== "" && nouns.has(`${noun}s`))).toEqual([]);
  expect((await call(["help", "keys", "create"])).out).toContain("--expires WHEN");
  expect((await call(["keys", "create", "--help"])).out).toContain("--expires WHEN");
});

test("another STEPWELL_SECRET is rejected with advice, and can be adopted", async () => {
  const fresh = await createWorld();
  try {
    const callbacks = '    callbacks: [{ slug: erp, url: "https://erp.test", events: [run.failed] }]\n';
    const file = await writeDefinition("secret.yaml", acme("secret") + callbacks);
    const [before] = JSON.parse(
      (await call(["apply", file, "--json"], { services: fresh })).out,
    ).organizations;
    const api = ["secrets", "set", "secret", "api", "--hosts", "api.test,other.test"];
    await call(api, { services: fresh, secret: "a value of an API" });
    const changed = {
      ...fresh,
      encryption: createEncryption("another secret, of more than thirty-two characters"),
    };
    const rejected = await call(["apply", file], { services: changed });
    expect([rejected.code, rejected.out]).toEqual([1, ""]);
    expect(rejected.err).toContain("STEPWELL_SECRET is not the secret of this database");
    expect(rejected.err).toContain("service-secret adopt");
    expect((await call(["doctor"], { services: changed })).out).toMatch(/^fail +secret/m);

    const adopted = await call(["service-secret", "adopt"], { services: changed });
    expect(adopted.code).toBe(0);
    expect(adopted.out).toContain("trigger secret/inbound");
    expect(adopted.out).toContain("secret secret/api");
    expect(adopted.out).toContain("callback secret/erp");
    expect((await call(["service-secret", "adopt"], { services: changed })).out).toContain("already uses");
    expect(await fresh.db.auditEntry.findMany({ where: { action: "secret.adopted" } })).toMatchObject([
      { organizationId: null, subjectName: "STEPWELL_SECRET" },
    ]);
    await call(api, { services: changed, secret: "a value of an API" });
    const [after] = JSON.parse(
      (await call(["apply", file, "--json"], { services: changed })).out,
    ).organizations;
    expect(after.triggers[0].id).toBe(before.triggers[0].id);
    expect(after.triggers[0].token).not.toBe(before.triggers[0].token);
    const { id } = await fresh.db.callbackEndpoint.findFirstOrThrow({ where: { slug: "erp" } });
    const rotation = { id, overlapSeconds: 0 };
    await rotateCallbackSecret(changed, await operatorOf(fresh, "secret"), rotation);
    expect((await call(["doctor"], { services: changed })).out).toMatch(/^ok +secret/m);
  } finally {
    await fresh.close();
  }
});

test("doctor fails while the database rejects writes", async () => {
  const fresh = await createWorld();
  try {
    const name = new URL(fresh.env.databaseUrl).pathname.slice(1);
    await fresh.pool.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    // Its connections are new.
    const process = createProcess(fresh);
    const { code, out } = await call(["doctor"], { services: process });
    await process.stop();
    expect([code, out]).toEqual([1, expect.stringMatching(/^fail +database +PostgreSQL .* rejects writes/m)]);
  } finally {
    await fresh.close();
  }
});

test("doctor names the wrong key of an Inngest server, and runs that it does not call", async () => {
  const { url } = await openInTest();
  const inngest = {
    dev: undefined,
    baseUrl: url,
    eventKey: EVENT_KEY,
    signingKey: "abcd",
    serveOrigin: "http://stepwell.test",
  };
  const on = (changes: object, services = world) => ({
    ...services,
    env: { ...services.env, inngest: { ...inngest, ...changes } },
  });
  const idle = await createWorld();
  const rejected = await call(["doctor"], { services: on({}, idle) });
  expect(rejected.code).toBe(1);
  expect(rejected.out).toMatch(new RegExp(`^fail +engine +${url} rejects INNGEST_SIGNING_KEY`, "m"));
  const accepted = await call(["doctor"], { services: on({ signingKey: SIGNING_KEY }, idle) });
  await idle.close();
  expect(accepted.out).toMatch(/^ok +engine +Inngest .* address and keys are right$/m);

  const tenant = await createTenant(world);
  const id = await addRun(tenant);
  const admittedAt = new Date(world.clock.now().getTime() - 11 * 60_000);
  await world.db.run.update({ where: { id }, data: { admittedAt } });
  const uncalled = await call(["doctor"], { services: on({ signingKey: SIGNING_KEY }) });
  expect(uncalled.out).toMatch(/^warn +runs +An Inngest server was given 1 runs/m);
  await world.db.run.delete({ where: { id } });
});

test("an empty database is migrated first, a migrated one is not changed", async () => {
  const empty = await createWorld();
  try {
    await empty.pool.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    expect((await call(["doctor"], { services: empty })).out).toMatch(
      /^fail +migrations +The database has no tables/m,
    );
    const file = await writeDefinition("first.yaml", acme("first"));
    expect((await call(["apply", file], { services: empty })).code).toBe(0);
    const migrations = () => empty.pool.query("SELECT id, finished_at FROM _prisma_migrations ORDER BY id");
    const before = (await migrations()).rows;
    expect((await call(["keys", "list", "first"], { services: empty })).code).toBe(0);
    expect((await migrations()).rows).toEqual(before);
  } finally {
    await empty.close();
  }
});

test("doctor checks everything and fails when something is broken", async () => {
  const healthy = await call(["doctor", "--json"]);
  const { checks } = JSON.parse(healthy.out);
  const levels = Object.fromEntries(
    checks.map((check: { what: string; level: string }) => [check.what, check.level]),
  );
  expect(levels).toMatchObject({
    Node: "ok",
    database: "ok",
    migrations: "ok",
    engine: "ok",
    egress: "ok",
    secret: "ok",
  });
  // The world's clock is months away from the database's.
  expect(levels.clock).toBe("warn");

  const broken = await createWorld();
  try {
    await broken.pool.query("DELETE FROM _prisma_migrations");
    const { code, out } = await call(["doctor"], { services: broken });
    expect(code).toBe(1);
    expect(out).toMatch(/^fail +migrations +\d+_baseline, .*not applied/m);
  } finally {
    await broken.close();
  }
});

test("without an organization doctor shows a set-up link; organizations create is another way in", async () => {
  const empty = await createWorld();
  const inEmpty = (argv: string[], answers: Given = {}) => call(argv, { ...answers, services: empty });
  try {
    expect((await inEmpty(["doctor"])).out).toMatch(
      /^warn +access +No organization exists, .* http:\/\/stepwell\.test\/set-up#[\w-]{64} \(works once\)/m,
    );
    const argv = ["organizations", "create", "acme", "--name", "Acme", "--credits", "1000"];
    const created = await inEmpty([...argv, "--owner", "Ada@acme.test"], { password: "correct horse" });
    expect(created).toMatchObject({
      code: 0,
      out: "Created acme with 1000 credits.\nada@acme.test is its owner: sign in at http://stepwell.test\n",
    });
    const members = await empty.db.member.findMany({ include: { organization: true, user: true } });
    expect(members).toMatchObject([
      { role: "owner", user: { email: "ada@acme.test" }, organization: { slug: "acme", name: "Acme" } },
    ]);
    expect(await inEmpty(argv)).toMatchObject({
      code: 1,
      err: 'slug is taken: an organization "acme" exists\n',
    });
    const short = await inEmpty([
      "organizations",
      "create",
      "b",
      "--owner",
      "b@b.test",
      "--password",
      "short",
    ]);
    expect(short).toMatchObject({ code: 1, err: expect.stringContaining("password must have at least 8") });
    // An existing account is asked for no password.
    expect(await inEmpty(["organizations", "create", "b", "--owner", "ada@acme.test"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("credits grant b 1000"),
    });
    expect((await inEmpty(["doctor"])).out).toMatch(/^ok +access +1 person has access$/m);
    expect((await inEmpty(["audit", "list", "acme"])).out).toContain("organization.created");
  } finally {
    await empty.close();
  }
});

test("users password-link prints a link once; users password is audited", async () => {
  const tenant = await createTenant(world);
  const { email, userId } = await createMember(world, tenant);
  const { out } = await call(["users", "password-link", email]);
  expect(out).toMatch(/works once, until \S+Z:\nhttp:\/\/stepwell\.test\/reset-password#[\w-]{64}\n$/);
  await call(["users", "password", email], { password: "another horse" });
  expect(await world.db.oneTimeLink.count({ where: { userId } })).toBe(0);
  const audit = await world.db.auditEntry.findMany({ where: { subjectId: userId }, orderBy: { id: "asc" } });
  expect(audit.map(({ action, actor }) => `${action} by ${actor}`)).toEqual([
    "member.password_link_created by operator",
    "member.password_set by operator",
  ]);
});

test("doctor judges the settings of the running processes, and says so when there is none", async () => {
  const own = await createWorld();
  const shell = { ...own, env: { ...own.env, egressAllow: ["shell.test:80"] } };
  const alone = await call(["doctor"], { services: shell });
  expect(alone.out).toMatch(
    /^warn +settings +No service runs on this database\. These are the settings of this shell/m,
  );
  expect(alone.out).toMatch(/^ok +egress +functions may also reach shell\.test:80$/m);

  const common = { APP_URL: "https://agents.acme.test", TRUST_PROXY: "1", STEPWELL_SLOT: "4" };
  const first = createProcess(own, { env: { ...common, EGRESS_ALLOW: "first.test:80" } });
  const second = createProcess(own, { env: common });
  try {
    await Promise.all([first.engine.worker(), second.engine.worker()]);
    const { out } = await call(["doctor"], { services: shell });
    expect(out).toMatch(/^ok +settings +those of the running service: 2 processes on \S+$/m);
    expect(out).toMatch(/^ok +engine +embedded, 2 live workers$/m);
    expect(out).toMatch(/^ok +address +https:\/\/agents\.acme\.test$/m);
    expect(out).toMatch(/^ok +egress +functions may also reach first\.test:80 \(process \d+ on \S+\)$/m);
    expect(out).toMatch(/^ok +egress +functions cannot reach private addresses \(process \d+ on \S+\)$/m);
    expect(out).toMatch(
      /^warn +names +STEPWELL_SLOT is not a setting and has no effect\. Did you mean STEPWELL_SLOTS\?$/m,
    );
    expect(out).not.toContain("shell.test");

    await own.pool.query("UPDATE workers SET settings = NULL");
    const older = await call(["doctor"], { services: shell });
    expect(older.out).toMatch(/^warn +settings +The running service is of an earlier version\./m);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    await own.close();
  }
});

test("doctor without a database says so once, and judges this shell", async () => {
  const url = new URL(world.env.databaseUrl);
  url.password = "wrong";
  const closed = createProcess({ ...world, env: { ...world.env, databaseUrl: url.href } });
  try {
    const { code, out } = await call(["doctor"], { services: closed });
    expect(code).toBe(1);
    expect(out.match(/^fail/gm)).toHaveLength(1);
    expect(out).toMatch(/^fail +database +The database rejects the user or password/m);
    expect(out).toMatch(/^warn +settings +The database cannot be read, or is not migrated/m);
  } finally {
    await closed.stop();
  }
});

test("webhook addresses are those of the service on the same database, unless APP_URL or PORT is set", async () => {
  const unset = (services: World): World => ({
    ...services,
    env: { ...services.env, appUrl: "http://localhost:3000", appUrlGiven: false },
  });
  const readUrl = async (services: World) => {
    const file = await writeDefinition("addressed.yaml", acme("addressed"));
    const { out } = await call(["apply", file, "--json"], { services });
    return new URL(JSON.parse(out).organizations[0].triggers[0].url).origin;
  };
  await storeAppUrl({ db: world.db, env: { ...world.env, appUrl: "https://agents.acme.test" } });
  expect(await readUrl(unset(world))).toBe("https://agents.acme.test");
  expect(await readUrl(world)).toBe("http://stepwell.test");

  const other = await createWorld();
  try {
    expect(await readUrl(unset(other))).toBe("http://localhost:3000");
  } finally {
    await other.close();
  }
});
