import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { handleRest } from "@/server/api/rest";
import { handleWebhook } from "@/server/api/webhook";
import type { MemberActor, MemberRole } from "@/server/base/actor";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { removeDefinition } from "./archive";
import { createCallback, rotateCallbackSecret } from "./callbacks/change-callback";
import { rotateTriggerSecret, rotateTriggerToken, setTriggerStatus } from "./change-trigger";
import { createApiKey, revokeApiKey } from "./organization/api-keys";
import { removeMember, saveMember } from "./organization/members";
import { operatorOf } from "./organization/organizations";
import { saveAgent } from "./save-agent";
import { saveTool } from "./save-tool";
import { saveTrigger } from "./save-trigger";
import { inspectTrigger } from "./webhooks/inspect-trigger";

const world = await openWorld();
const tenant = await createTenant(world);
const operator = await operatorOf(world, tenant.slug);

const agent = { slug: "writer", name: "Writer", model: "m" };
const tool = {
  slug: "double",
  name: "Double",
  steps: [{ id: "sum", uses: "calculate", with: { expression: "2 * {{ input.n }}" } }],
};

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const { pathname } = new URL(url, "http://stepwell.test");
  const handler = pathname.startsWith("/webhooks") ? handleWebhook : handleRest;
  const response = await handler(
    world,
    new Request(`http://stepwell.test${pathname}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
    }),
  );
  return { status: response.status, body: await response.json() };
}

const hexSigned = (secret: string, body: string) => ({
  "X-Signature": createHmac("sha256", secret).update(body).digest("hex"),
});

test("saved definitions run: by key, by webhook, with a signature", async () => {
  const saved = await saveAgent(world, operator, { definition: agent });
  const { key } = await createApiKey(world, operator, { name: "runs" });
  const started = await post(`/v1/agents/run/${saved.id}`, '{"userMessage":"Hi"}', { "X-API-Key": key });
  expect(started).toMatchObject({ status: 200, body: { success: true, status: "Pending" } });

  const savedTool = await saveTool(world, operator, { definition: tool });
  const toolStarted = await post(`/v1/tools/run/${savedTool.id}`, '{"n":2}', { "X-API-Key": key });
  expect(toolStarted.status).toBe(200);

  const trigger = await saveTrigger(world, operator, {
    definition: { slug: "signed", agent: "writer", secret: "s3cret" },
  });
  const url = `/webhooks/${trigger.token}`;
  expect((await post(url, "{}")).status).toBe(401);
  expect((await post(url, "{}", hexSigned("other", "{}"))).status).toBe(401);
  expect((await post(url, "{}", hexSigned("s3cret", "{}"))).status).toBe(200);
});

test("a key limited to one agent cannot start another", async () => {
  await saveAgent(world, operator, { definition: { ...agent, slug: "mine" } });
  const other = await saveAgent(world, operator, { definition: { ...agent, slug: "other" } });
  const { key } = await createApiKey(world, operator, { name: "narrow", agents: ["mine"] });
  const { status } = await post(`/v1/agents/run/${other.id}`, '{"userMessage":"Hi"}', { "X-API-Key": key });
  expect([403, 404]).toContain(status);
});

test("a message template makes the user message", async () => {
  await saveAgent(world, operator, { definition: agent });
  const trigger = await saveTrigger(world, operator, {
    definition: {
      slug: "templated",
      agent: "writer",
      messageTemplate: "Order {{ body.id }}: {{ body.lines }}",
    },
  });
  const answer = await post(`/webhooks/${trigger.token}`, '{"id":7,"lines":["a"]}');
  const run = await world.db.run.findUniqueOrThrow({ where: { id: answer.body.runId } });
  expect(run.input).toBe('Order 7: ["a"]');
  const bad = { slug: "broken", agent: "writer", messageTemplate: "{{ body. }}" };
  await expect(saveTrigger(world, operator, { definition: bad })).rejects.toMatchObject({
    code: "invalid_request",
    issues: [{ path: "/messageTemplate" }],
  });
});

test("after a rotation the earlier secret is valid for its overlap only", async () => {
  await saveAgent(world, operator, { definition: agent });
  const saved = await saveTrigger(world, operator, {
    definition: { slug: "rotated", agent: "writer", secret: "first" },
  });
  const { secret } = await rotateTriggerSecret(world, operator, { id: saved.id, overlapSeconds: 60 });
  const send = async (with_: string) =>
    (await post(`/webhooks/${saved.token}`, "{}", hexSigned(with_, "{}"))).status;
  expect([await send("first"), await send(secret)]).toEqual([200, 200]);
  world.clock.advance(61_000);
  expect([await send("first"), await send(secret)]).toEqual([401, 200]);

  const next = await rotateTriggerSecret(world, operator, {
    id: saved.id,
    overlapSeconds: 0,
    secret: "third",
  });
  expect(next).toEqual({ secret: "third", earlierUntil: null });
  expect([await send(secret), await send("third")]).toEqual([401, 200]);
});

test.each(["trigger", "callback"])("a %s has at most five valid secrets", async (kind) => {
  await saveAgent(world, operator, { definition: agent });
  const slug = "five-secrets";
  const { id } =
    kind === "trigger"
      ? await saveTrigger(world, operator, { definition: { slug, agent: "writer", secret: "first" } })
      : await createCallback.run(world, operator, {
          slug,
          url: "https://receiver.example/",
          events: ["run.completed"],
        });
  const rotate = (overlapSeconds: number) =>
    (kind === "trigger" ? rotateTriggerSecret : rotateCallbackSecret)(world, operator, {
      id,
      overlapSeconds,
    });
  for (let n = 2; n <= 5; n += 1) await rotate(60);
  await expect(rotate(60)).rejects.toMatchObject({
    code: "invalid_request",
    issues: [{ path: "/overlapSeconds" }],
  });
  await rotate(0);
  await rotate(60);
});

test("a form that is older than the trigger keeps its status, and overwrites nothing", async () => {
  await saveAgent(world, operator, { definition: agent });
  const definition = { slug: "paused", agent: "writer" };
  const { id, token } = await saveTrigger(world, operator, { definition });
  const viewer = await createMember(world, tenant, "viewer");
  const { facts } = await inspectTrigger(world, viewer, { triggerId: id });
  await setTriggerStatus(world, operator, { id, status: "inactive" });
  const renamed = { ...definition, name: "Shop" };
  const saveOlder = (part: object) =>
    saveTrigger(world, operator, { definition: { ...definition, ...part }, replaces: facts });
  expect(await saveOlder(renamed)).toMatchObject({ saved: "updated" });
  await expect(saveOlder({ maxCredits: 5 })).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringMatching(/^Somebody changed this trigger since you opened it/),
  });
  // Two forms that make the same change do not conflict.
  expect(await saveOlder(renamed)).toMatchObject({ saved: "unchanged" });
  expect((await post(`/webhooks/${token}`, "{}")).status).not.toBe(200);
  await saveTrigger(world, operator, { definition: renamed });
  expect((await post(`/webhooks/${token}`, "{}")).status).toBe(200);
});

test("a new address ends the earlier one", async () => {
  await saveAgent(world, operator, { definition: agent });
  const saved = await saveTrigger(world, operator, { definition: { slug: "moved", agent: "writer" } });
  const { token } = await rotateTriggerToken(world, operator, { id: saved.id });
  expect((await post(`/webhooks/${saved.token}`, "{}")).status).toBe(404);
  expect((await post(`/webhooks/${token}`, "{}")).status).toBe(200);
  const again = await saveTrigger(world, operator, { definition: { slug: "moved", agent: "writer" } });
  expect(again).toMatchObject({ token, saved: "unchanged" });
});

test("an unreadable secret disables the trigger instead of opening it to everyone", async () => {
  await saveAgent(world, operator, { definition: agent });
  const saved = await saveTrigger(world, operator, {
    definition: { slug: "unreadable", agent: "writer", secret: "s3cret" },
  });
  await world.db.triggerSecret.updateMany({
    where: { triggerId: saved.id },
    data: { sealed: "v1.AAAA.AAAA.AAAA" },
  });
  const answer = await post(`/webhooks/${saved.token}`, "{}", hexSigned("s3cret", "{}"));
  expect(answer).toMatchObject({ status: 400, body: { code: "trigger_misconfigured" } });
});

test("saving reports a taken slug, a missing one, or a concurrent change", async () => {
  const first = await saveAgent(world, operator, {
    definition: { ...agent, slug: "edited" },
    only: "create",
  });
  expect(first).toMatchObject({ version: 1, saved: "created" });
  await expect(
    saveAgent(world, operator, { definition: { ...agent, slug: "edited" }, only: "create" }),
  ).rejects.toMatchObject({
    issues: [{ path: "/slug", message: 'is taken: an agent "edited" exists' }],
  });
  const edit = { ...agent, slug: "edited", model: "n" };
  await saveAgent(world, operator, { definition: edit, only: "update", version: 1 });
  await expect(
    saveAgent(world, operator, { definition: { ...edit, model: "o" }, version: 1 }),
  ).rejects.toThrow(/^Version 2 of this agent was saved since/);
  await expect(
    saveTool(world, operator, { definition: { ...tool, slug: "absent" }, only: "update" }),
  ).rejects.toMatchObject({
    code: "not_found",
  });
});

test("concurrent saves each make a version, and none is lost", async () => {
  const models = ["a", "b", "c", "d", "e"];
  await Promise.all(
    models.map((model) => saveAgent(world, operator, { definition: { ...agent, slug: "busy", model } })),
  );
  const found = await world.db.agent.findFirstOrThrow({
    where: { slug: "busy" },
    include: { versions: true },
  });
  expect(found.version).toBe(5);
  expect(found.versions.map(({ definition }) => JSON.parse(definition).model).sort()).toEqual(models);
});

test.each<[string, MemberRole, (actor: MemberActor) => Promise<unknown>]>([
  ["an agent", "member", (actor) => saveAgent(world, actor, { definition: { ...agent, slug: "roles" } })],
  ["a tool", "member", (actor) => saveTool(world, actor, { definition: { ...tool, slug: "roles" } })],
  [
    "a trigger",
    "member",
    (actor) => saveTrigger(world, actor, { definition: { slug: "roles", agent: "helper" } }),
  ],
  ["a key", "admin", (actor) => createApiKey(world, actor, { name: `key of ${actor.role}` })],
  [
    "a member",
    "admin",
    (actor) => saveMember(world, actor, { email: `by-${actor.role}@x.test`, password: "a password" }),
  ],
])("%s needs the role %s", async (_what, needed, save) => {
  const roles: MemberRole[] = ["viewer", "member", "admin", "owner"];
  for (const role of roles) {
    const actor = await createMember(world, tenant, role);
    if (roles.indexOf(role) >= roles.indexOf(needed)) await expect(save(actor)).resolves.toBeDefined();
    else await expect(save(actor)).rejects.toMatchObject({ code: "forbidden" });
  }
});

test("only owners appoint and remove owners, and one always stays", async () => {
  const own = await createTenant(world);
  const admin = await createMember(world, own, "admin");
  const owner = await createMember(world, own, "owner");
  const [email, adminEmail] = [owner.email, admin.email];

  await expect(saveMember(world, admin, { email: adminEmail, role: "owner" })).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(saveMember(world, admin, { email, role: "viewer" })).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(removeMember(world, admin, { userId: owner.userId })).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(saveMember(world, owner, { email, role: "admin" })).rejects.toThrow("at least one owner");
  await expect(removeMember(world, owner, { userId: owner.userId })).rejects.toThrow("at least one owner");

  await saveMember(world, owner, { email: adminEmail, role: "owner" });
  await removeMember(world, owner, { userId: owner.userId });
  const members = await world.db.member.findMany({ where: { organizationId: own.orgId } });
  expect(members.map(({ userId, role }) => [userId, role])).toEqual([[admin.userId, "owner"]]);
});

test("nothing of another organization can be reached", async () => {
  const stranger = await operatorOf(world, (await createTenant(world)).slug);
  const key = await createApiKey(world, operator, { name: "guarded" });
  const trigger = await saveTrigger(world, operator, { definition: { slug: "guarded", agent: "helper" } });
  await expect(revokeApiKey(world, stranger, { id: key.id })).rejects.toMatchObject({ code: "not_found" });
  await expect(rotateTriggerToken(world, stranger, { id: trigger.id })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(
    rotateTriggerSecret(world, stranger, { id: trigger.id, overlapSeconds: 0 }),
  ).rejects.toMatchObject({ code: "not_found" });
  await expect(createApiKey(world, stranger, { name: "x", agents: ["writer"] })).rejects.toMatchObject({
    issues: [
      { path: "/agents/0", message: '"writer" is not an agent of the organization. Known agents: helper' },
    ],
  });
  const calls = (uses: string, input: Record<string, string>) =>
    saveTool(world, stranger, {
      definition: { slug: "spy", name: "Spy", steps: [{ id: "a", uses, with: input }] },
    });
  await expect(calls("run_tool", { tool: "double" })).rejects.toMatchObject({
    issues: [{ path: "/steps/0/with/tool", message: expect.stringMatching(/Known tools: adder, spy$/) }],
  });
  await expect(calls("run_agent", { agent: "writer", message: "Hi" })).rejects.toMatchObject({
    issues: [{ path: "/steps/0/with/agent", message: expect.stringMatching(/Known agents: helper$/) }],
  });
  await expect(
    saveTrigger(world, stranger, { definition: { slug: "in", tool: "double" } }),
  ).rejects.toMatchObject({
    issues: [{ path: "/tool", message: '"double" is not a tool of the organization. Known tools: adder' }],
  });
  const row = await world.db.apiKey.findUniqueOrThrow({ where: { id: key.id } });
  expect(row.revokedAt).toBeNull();
});

test("a removed agent starts nothing; a tool in use stays", async () => {
  const own = await createTenant(world);
  const by = await operatorOf(world, own.slug);
  await saveTool(world, by, { definition: tool });
  const { id } = await saveAgent(world, by, { definition: { ...agent, tools: ["double"] } });
  const trigger = await saveTrigger(world, by, { definition: { slug: "in", agent: "writer" } });
  await expect(removeDefinition(world, by, { kind: "tool", slug: "double" })).rejects.toThrow(
    "is used by writer",
  );
  await removeDefinition(world, by, { kind: "agent", slug: "writer" });
  const started = await post(`/v1/agents/run/${id}`, '{"userMessage":"Hi"}', { "X-API-Key": own.key });
  expect(started.status).toBe(404);
  const hooked = await post(`/webhooks/${trigger.token}`, "{}");
  expect(hooked).toMatchObject({ status: 400, body: { code: "trigger_misconfigured" } });
  await removeDefinition(world, by, { kind: "trigger", slug: "in" });
  expect((await post(`/webhooks/${trigger.token}`, "{}")).status).toBe(404);
  await removeDefinition(world, by, { kind: "tool", slug: "double" });
});

test("a revocation is audited once", async () => {
  const { id } = await createApiKey(world, operator, { name: "old" });
  await revokeApiKey(world, operator, { id });
  await revokeApiKey(world, operator, { id });
  const entries = await world.db.auditEntry.findMany({ where: { subjectId: id, action: "api_key.revoked" } });
  expect(entries).toHaveLength(1);
});
