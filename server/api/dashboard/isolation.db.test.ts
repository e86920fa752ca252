import { TRPCError } from "@trpc/server";
import { createRecursiveProxy } from "@trpc/server/unstable-core-do-not-import";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { respondToDashboard } from "@/server/api/dashboard/respond";
import { createDashboardCaller, dashboardRouter } from "@/server/api/dashboard/router";
import type { Actor, MemberRole } from "@/server/base/actor";
import { isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { removeDefinition } from "@/server/catalog/archive";
import { saveToolText } from "@/server/catalog/edit-definition";
import { createApiKey } from "@/server/catalog/organization/api-keys";
import { createInvitation } from "@/server/catalog/organization/invitations";
import { saveModelProvider } from "@/server/catalog/organization/model-providers";
import { setSecret } from "@/server/catalog/organization/secrets";
import { saveAgent } from "@/server/catalog/save-agent";
import { recordDelivery } from "@/server/catalog/webhooks/deliveries";
import { MAX_BATCHED_CALLS } from "@/server/contract/enums";
import { startFromDashboard } from "@/server/runs/rerun";
import type { OwnProvider } from "@/server/work/models/own-provider";
import { createMember, insertRun, TEST_PASSWORD } from "@/testing/runs";
import { createTenant, createTrigger, createWorld, type Tenant, type World } from "@/testing/world";

/** The table must name each procedure, so that a new one fails this test until it is added. */

let world: World;
let own: Tenant;
let other: Tenant;
let mine: Things;
let foreign: Things;

type Things = Pick<Tenant, "orgId" | "agentId" | "toolId"> & {
  runId: string;
  /** Has a child run. */
  parentId: string;
  stepId: string;
  callId: string;
  triggerId: string;
  triggerSlug: string;
  deliveryId: string;
  secretName: string;
  provider: OwnProvider;
  email: string;
  keyId: string;
  userId: string;
  editedAgent: { id: string; slug: string };
  editedTool: { id: string; slug: string };
  spareAgentId: string;
  archivedAgentId: string;
  sessionId: string;
  invitationId: string;
  viewId: string;
};

beforeAll(async () => {
  world = await createWorld();
  own = await createTenant(world);
  other = await createTenant(world, { credits: "77" });
  mine = await createThings(own);
  foreign = await createThings(other);
});
afterAll(() => world.close());

async function createThings(tenant: Tenant): Promise<Things> {
  const operator = { kind: "operator", orgId: tenant.orgId, name: "operator" } as const;
  const editedAgent = await saveAgent(world, operator, {
    definition: {
      slug: `w-${tenant.slug}`,
      name: `Of ${tenant.slug}`,
      model: "m",
    },
  });
  const editedTool = await saveToolText(world, operator, {
    yaml: toolYaml(`t-${tenant.slug}`),
    only: "create",
  });
  const { email, ...member } = await createMember(world, tenant, "owner");
  // Started normally, so that its configuration is real.
  const { runId } = await startFromDashboard(world, member, {
    kind: "agent",
    id: tenant.agentId,
    input: "secret",
  });
  const step = await world.db.step.create({
    data: {
      id: newId(),
      organizationId: tenant.orgId,
      runId,
      key: "call-1-1",
      stepNumber: 1,
      iterationNumber: 1,
      toolName: "calculate",
      status: "Completed",
      input: "{}",
      output: "{}",
      startedAt: world.clock.now(),
      finishedAt: world.clock.now(),
      durationMs: 1,
      sequence: 1,
    },
  });
  const call = await world.db.modelCall.create({
    data: {
      id: newId(),
      organizationId: tenant.orgId,
      runId,
      key: "think-1",
      iterationNumber: 1,
      provider: "test",
      model: "gpt-5-mini",
      status: "Completed",
      startedAt: world.clock.now(),
      finishedAt: world.clock.now(),
    },
  });
  const parentId = await insertRun(world, tenant, { kind: "agent" });
  await insertRun(world, tenant, { source: "run", parentRunId: parentId });
  const trigger = await createTrigger(world, tenant);
  const deliveryId = newId();
  await recordDelivery(
    world,
    { orgId: tenant.orgId, triggerId: trigger.id },
    {
      delivery: {
        id: deliveryId,
        headers: "{}",
        body: Buffer.from("{}"),
        senderId: null,
        redeliveryOf: null,
      },
      outcome: { outcome: "rejected", status: 400, code: "invalid_request", reason: "Because." },
      receivedAt: world.clock.now(),
    },
  );
  const secretName = `of_${tenant.slug.replaceAll("-", "_")}`;
  await setSecret(world, operator, {
    secret: { name: secretName, value: "a secret value", hosts: ["a.test"] },
  });
  const provider = {
    name: `p-${tenant.slug}`,
    baseUrl: "http://127.0.0.1:9/v1",
    models: [`m-${tenant.slug}`],
  };
  await saveModelProvider(world, operator, { ...provider, replaces: null });
  const { orgId, agentId, toolId } = tenant;
  const ids = { orgId, agentId, toolId, runId, stepId: step.id, callId: call.id };
  const { slug: triggerSlug } = await world.db.trigger.findUniqueOrThrow({ where: { id: trigger.id } });
  const { id: keyId } = await createApiKey(world, operator, { name: `spare ${newId()}` });
  const { userId } = await createMember(world, tenant, "viewer");
  const spare = { slug: "spare", name: "Spare", model: "m" };
  const { id: spareAgentId } = await saveAgent(world, operator, { definition: spare });
  const { id: archivedAgentId } = await saveAgent(world, operator, {
    definition: { ...spare, slug: "archived" },
  });
  await removeDefinition(world, operator, { kind: "agent", id: archivedAgentId });
  const editable = { editedAgent, editedTool, spareAgentId, archivedAgentId };
  const invited = await createInvitation(world, member, {
    email: `${newId()}@stepwell.test`,
    role: "viewer",
  });
  const sessionId = newId();
  const now = world.clock.now();
  await world.db.session.create({
    data: {
      id: sessionId,
      token: newId(),
      userId,
      expiresAt: new Date(now.getTime() + 3_600_000),
      createdAt: now,
      updatedAt: now,
    },
  });
  const viewId = newId();
  await world.db.savedView.create({
    data: {
      id: viewId,
      organizationId: tenant.orgId,
      userId,
      name: `View of ${tenant.slug}`,
      query: "?status=Failed",
      createdAt: now,
    },
  });
  return {
    ...ids,
    ...editable,
    parentId,
    triggerId: trigger.id,
    triggerSlug,
    deliveryId,
    secretName,
    provider,
    email,
    keyId,
    userId,
    sessionId,
    invitationId: invited.id,
    viewId,
  };
}

const toolYaml = (slug: string) =>
  `{ slug: ${slug}, name: Clock, parameters: { type: object }, steps: [{ id: a, uses: current_time }] }`;

type Caller = ReturnType<typeof createDashboardCaller>;
type Row = {
  role: MemberRole;
  call: (api: Caller, at: Things) => Promise<unknown>;
  /** For the other's ids: an error code, or a response without data. */
  gets: "not_found" | "invalid_request" | ((answer: unknown) => boolean);
};

const isEmpty = (answer: unknown) => JSON.stringify(answer) === "[]";
const showsNothingForeign = (answer: unknown) =>
  ![
    other.orgId,
    other.agentId,
    other.toolId,
    other.apiKeyId,
    foreign.runId,
    foreign.stepId,
    foreign.callId,
    foreign.triggerId,
    foreign.deliveryId,
    foreign.secretName,
    foreign.provider.name,
    foreign.archivedAgentId,
    foreign.sessionId,
    other.slug,
  ].some((id) => JSON.stringify(answer).includes(id));

const NEW_KEY = {
  scopes: ["runs:read" as const],
  expiresAt: null,
  agents: [],
  tools: [],
  startsPerMinute: null,
  readsPerMinute: null,
  maxCredits: null,
};
const NEW_TRIGGER = {
  status: "active" as const,
  signature: "hex" as const,
  rateLimit: { requests: 30, seconds: 60 },
  messageTemplate: null,
  filter: null,
  maxCredits: null,
};
const OUTPUT_SCHEMA = { type: "object", properties: { answer: { type: "string" } } };
const foreignAgent = () => `w-${other.slug}`;

/** Views belong to a person: the caller's own, or another organization's. */
async function viewOf(api: Caller, at: Things): Promise<string> {
  if (at === foreign) return at.viewId;
  const saved = await api.views.save({ name: newId(), query: "", columns: null });
  // `inputOf` gets nothing.
  return saved?.id ?? at.viewId;
}

const TABLE: Record<string, Row> = {
  "views.list": { role: "viewer", call: (api) => api.views.list(), gets: showsNothingForeign },
  // Always the caller's own.
  "views.save": {
    role: "viewer",
    call: (api) => api.views.save({ name: newId(), query: "", columns: null }),
    gets: showsNothingForeign,
  },
  "views.rename": {
    role: "viewer",
    call: async (api, at) => api.views.rename({ id: await viewOf(api, at), name: newId() }),
    gets: "not_found",
  },
  "views.remove": {
    role: "viewer",
    call: async (api, at) => api.views.remove({ id: await viewOf(api, at) }),
    gets: "not_found",
  },
  "account.organizations": {
    role: "viewer",
    call: (api) => api.account.organizations(),
    gets: showsNothingForeign,
  },
  "account.switchOrganization": {
    role: "viewer",
    call: (api, at) => api.account.switchOrganization({ organizationId: at.orgId }),
    gets: "not_found",
  },
  "account.sessions": { role: "viewer", call: (api) => api.account.sessions(), gets: showsNothingForeign },
  // Only the person's own sessions, also within the organization.
  "account.endSession": {
    role: "viewer",
    call: (api, at) => api.account.endSession({ sessionId: at.sessionId }),
    gets: (answer) => JSON.stringify(answer) === '{"ended":0}',
  },
  "account.changePassword": {
    role: "viewer",
    call: (api) =>
      api.account.changePassword({
        currentPassword: TEST_PASSWORD,
        newPassword: "another-horse-battery",
        endOtherSessions: true,
      }),
    gets: (answer) => JSON.stringify(answer) === '{"endedSessions":0}',
  },
  "catalog.agents": { role: "viewer", call: (api) => api.catalog.agents(), gets: showsNothingForeign },
  "catalog.tools": { role: "viewer", call: (api) => api.catalog.tools(), gets: showsNothingForeign },
  "catalog.triggers": { role: "viewer", call: (api) => api.catalog.triggers(), gets: showsNothingForeign },
  "catalog.keys": { role: "viewer", call: (api) => api.catalog.keys(), gets: showsNothingForeign },
  "catalog.directory": {
    role: "viewer",
    call: (api) => api.catalog.directory(),
    gets: (answer) =>
      showsNothingForeign(answer) &&
      !JSON.stringify(answer).includes(foreign.triggerId) &&
      JSON.stringify(answer).includes(own.agentId),
  },
  "catalog.filterTargets": {
    role: "viewer",
    call: (api) => api.catalog.filterTargets(),
    gets: showsNothingForeign,
  },
  "runs.list": {
    role: "viewer",
    call: (api, at) => api.runs.list({ filter: { toolId: at.toolId } }),
    gets: (answer) => JSON.stringify(answer) === '{"items":[],"nextCursor":null}',
  },
  "runs.byIds": { role: "viewer", call: (api, at) => api.runs.byIds({ ids: [at.runId] }), gets: isEmpty },
  "runs.children": {
    role: "viewer",
    call: (api, at) => api.runs.children({ runId: at.parentId }),
    gets: isEmpty,
  },
  "runs.statuses": { role: "viewer", call: (api) => api.runs.statuses({}), gets: showsNothingForeign },
  "runs.histogram": {
    role: "viewer",
    call: (api, at) => api.runs.histogram({ filter: { agentId: at.agentId } }),
    gets: (answer) => !/"runs":[1-9]/.test(JSON.stringify(answer)),
  },
  "runs.errors": { role: "viewer", call: (api) => api.runs.errors({}), gets: showsNothingForeign },
  "runs.ids": { role: "viewer", call: (api) => api.runs.ids({ after: null }), gets: showsNothingForeign },
  "runs.fitting": {
    role: "viewer",
    call: (api, at) => api.runs.fitting({ ids: [at.runId] }),
    gets: isEmpty,
  },
  "runs.metrics": {
    role: "viewer",
    call: (api, at) => api.runs.metrics({ period: "24h", subject: { dimension: "agent", id: at.agentId } }),
    gets: (answer) => JSON.stringify(answer).includes('"total":{"runs":0'),
  },
  "runs.inspect": {
    role: "viewer",
    call: (api, at) => api.runs.inspect({ runId: at.runId }),
    gets: "not_found",
  },
  "runs.step": { role: "viewer", call: (api, at) => api.runs.step(at), gets: "not_found" },
  "runs.modelRequest": {
    role: "viewer",
    call: (api, at) => api.runs.modelRequest(at),
    gets: "not_found",
  },
  "runs.configuration": {
    role: "viewer",
    call: (api, at) => api.runs.configuration(at),
    gets: "not_found",
  },
  "runs.compareConfigurations": {
    role: "viewer",
    call: (api, at) => api.runs.compareConfigurations({ a: at.runId, b: at.runId }),
    gets: "not_found",
  },
  "runs.searchSteps": {
    role: "viewer",
    call: (api, at) => api.runs.searchSteps({ ...at, text: "e" }),
    gets: "not_found",
  },
  "runs.neighbours": {
    role: "viewer",
    call: (api, at) => api.runs.neighbours({ runId: at.runId }),
    gets: showsNothingForeign,
  },
  "runs.liveness": { role: "viewer", call: (api, at) => api.runs.liveness(at), gets: "not_found" },
  "runs.stepValues": { role: "viewer", call: (api, at) => api.runs.stepValues(at), gets: "not_found" },
  "runs.modelCall": { role: "viewer", call: (api, at) => api.runs.modelCall(at), gets: "not_found" },
  "runs.start": {
    role: "member",
    call: (api, at) => api.runs.start({ kind: "agent", id: at.agentId, input: "Hello" }),
    gets: "not_found",
  },
  "runs.tryAgent": {
    role: "member",
    call: (api, at) =>
      api.runs.tryAgent({
        agentId: at.agentId,
        definition: { slug: "draft", name: "Draft", model: "m", outputSchema: OUTPUT_SCHEMA },
        message: "Hello",
      }),
    gets: "not_found",
  },
  "runs.tryTool": {
    role: "member",
    call: (api, at) => api.runs.tryTool({ toolId: at.toolId, yaml: toolYaml("draft"), input: "{}" }),
    gets: "not_found",
  },
  "runs.rerun": {
    role: "member",
    call: (api, at) => api.runs.rerun({ runId: at.runId }),
    gets: "not_found",
  },
  "runs.cancelMatching": {
    role: "member",
    call: (api, at) => api.runs.cancelMatching({ filter: { toolId: at.toolId } }),
    gets: (answer) => JSON.stringify(answer) === '{"found":0,"next":null}',
  },
  "runs.cancel": {
    role: "member",
    call: (api, at) => api.runs.cancel({ runIds: [at.runId] }),
    gets: "not_found",
  },
  "credits.balance": {
    role: "viewer",
    call: (api) => api.credits.balance(),
    gets: (answer) => /"(8\d|9\d|100)\./.test(JSON.stringify(answer)),
  },
  "credits.ledger": {
    role: "viewer",
    call: (api) => api.credits.ledger({}),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes('"sequence":1,'),
  },
  "definitions.agent": {
    role: "viewer",
    call: (api, at) => api.definitions.agent({ agentId: at.agentId }),
    gets: "not_found",
  },
  "definitions.tool": {
    role: "viewer",
    call: (api, at) => api.definitions.tool({ toolId: at.toolId }),
    gets: "not_found",
  },
  "definitions.versions": {
    role: "viewer",
    call: (api, at) => api.definitions.versions({ kind: "agent", id: at.agentId }),
    gets: "not_found",
  },
  "definitions.changes": {
    role: "viewer",
    call: (api, at) => api.definitions.changes({ kind: "tool", id: at.toolId, number: 1 }),
    gets: "not_found",
  },
  "keys.create": {
    role: "admin",
    call: (api, at) =>
      api.keys.create({ ...NEW_KEY, name: newId(), ...(at === foreign ? { agents: [foreignAgent()] } : {}) }),
    gets: "invalid_request",
  },
  "keys.revoke": {
    role: "admin",
    call: (api, at) => api.keys.revoke({ id: at.keyId }),
    gets: "not_found",
  },
  "members.invitations": {
    role: "admin",
    call: (api) => api.members.invitations(),
    gets: (answer) => !JSON.stringify(answer).includes(foreign.invitationId),
  },
  "members.invite": {
    role: "admin",
    call: (api) => api.members.invite({ email: `${newId()}@stepwell.test`, role: "viewer" }),
    gets: showsNothingForeign,
  },
  "members.revokeInvitation": {
    role: "admin",
    call: (api, at) => api.members.revokeInvitation({ id: at.invitationId }),
    gets: "not_found",
  },
  "members.changeRole": {
    role: "admin",
    call: (api, at) => api.members.changeRole({ userId: at.userId, role: "viewer" }),
    gets: "not_found",
  },
  "members.createPasswordLink": {
    role: "admin",
    call: (api, at) => api.members.createPasswordLink({ userId: at.userId }),
    gets: "not_found",
  },
  "members.remove": {
    role: "admin",
    call: (api, at) => api.members.remove({ userId: at.userId }),
    gets: "not_found",
  },
  "definitions.choices": {
    role: "viewer",
    call: (api) => api.definitions.choices(),
    gets: showsNothingForeign,
  },
  "definitions.functions": {
    role: "viewer",
    call: (api) => api.definitions.functions(),
    gets: showsNothingForeign,
  },
  "definitions.toolSchemas": {
    role: "viewer",
    call: (api) => api.definitions.toolSchemas(),
    gets: showsNothingForeign,
  },
  "definitions.editAgent": {
    role: "viewer",
    call: (api, at) => api.definitions.editAgent({ agentId: at.agentId }),
    gets: "not_found",
  },
  "definitions.editTool": {
    role: "viewer",
    call: (api, at) => api.definitions.editTool({ toolId: at.toolId }),
    gets: "not_found",
  },
  "definitions.checkTool": {
    role: "member",
    call: (api) => api.definitions.checkTool({ yaml: "slug: a" }),
    gets: showsNothingForeign,
  },
  "definitions.stepMentions": {
    role: "member",
    call: (api) => api.definitions.stepMentions({ yaml: "slug: a", step: "a" }),
    gets: showsNothingForeign,
  },
  "definitions.saveAgent": {
    role: "member",
    call: (api, at) =>
      api.definitions.saveAgent({
        definition: { slug: at.editedAgent.slug, name: "Taken", model: "m", outputSchema: OUTPUT_SCHEMA },
        expected: { only: "update", id: at.editedAgent.id, version: 1 },
      }),
    gets: "invalid_request",
  },
  "definitions.saveTool": {
    role: "member",
    call: (api, at) =>
      api.definitions.saveTool({
        yaml: toolYaml(at.editedTool.slug),
        expected: { only: "update", id: at.editedTool.id, version: 1 },
      }),
    gets: "invalid_request",
  },
  "definitions.returnTo": {
    role: "member",
    call: (api, at) =>
      api.definitions.returnTo({ kind: "tool", id: at.editedTool.id, number: 1, current: 1 }),
    gets: "not_found",
  },
  "definitions.archive": {
    role: "member",
    call: (api, at) => api.definitions.archive({ kind: "agent", id: at.spareAgentId }),
    gets: "not_found",
  },
  "definitions.restore": {
    role: "member",
    call: (api, at) => api.definitions.restore({ kind: "agent", id: at.archivedAgentId }),
    gets: "not_found",
  },
  "definitions.archived": {
    role: "viewer",
    call: (api) => api.definitions.archived({ kind: "agent" }),
    gets: showsNothingForeign,
  },
  "organization.inspect": {
    role: "viewer",
    call: (api) => api.organization.inspect(),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes(own.slug),
  },
  "organization.firstSteps": {
    role: "viewer",
    call: (api) => api.organization.firstSteps(),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes(own.agentId),
  },
  "organization.rename": {
    role: "owner",
    call: (api) => api.organization.rename({ name: own.slug }),
    gets: showsNothingForeign,
  },
  "organization.members": {
    role: "viewer",
    call: (api) => api.organization.members(),
    gets: (answer) => !JSON.stringify(answer).includes(foreign.email),
  },
  "organization.audit": {
    role: "admin",
    call: (api) => api.organization.audit({}),
    gets: showsNothingForeign,
  },
  "models.list": { role: "viewer", call: (api) => api.models.list(), gets: showsNothingForeign },
  "models.users": {
    role: "viewer",
    call: (api, at) => api.models.users({ name: at.provider.name }),
    gets: isEmpty,
  },
  "models.save": {
    role: "admin",
    call: (api, { provider }) => api.models.save({ ...provider, replaces: provider }),
    gets: "not_found",
  },
  // This world's client calls nobody, which is an outcome.
  "models.test": {
    role: "admin",
    call: (api, { provider: { name, models } }) => api.models.test({ name, model: models[0] ?? "" }),
    gets: "not_found",
  },
  "models.offered": { role: "member", call: (api) => api.models.offered(), gets: showsNothingForeign },
  "models.discover": {
    role: "admin",
    call: (api, { provider: { baseUrl, apiKey } }) => api.models.discover({ baseUrl, apiKey }),
    gets: showsNothingForeign,
  },
  "models.remove": {
    role: "admin",
    call: (api, at) => api.models.remove({ name: at.provider.name }),
    gets: "not_found",
  },
  "secrets.list": { role: "viewer", call: (api) => api.secrets.list(), gets: showsNothingForeign },
  "secrets.users": {
    role: "viewer",
    call: (api, at) => api.secrets.users({ name: at.secretName }),
    gets: isEmpty,
  },
  "secrets.create": {
    role: "admin",
    call: (api) =>
      api.secrets.create({ name: `s_${newId().slice(-8)}`, value: "12345678", hosts: ["a.test"] }),
    gets: showsNothingForeign,
  },
  "secrets.replace": {
    role: "admin",
    call: (api, at) => api.secrets.replace({ name: at.secretName, value: "12345678" }),
    gets: "not_found",
  },
  "secrets.changeRules": {
    role: "admin",
    call: (api, at) => api.secrets.changeRules({ name: at.secretName, hosts: ["b.test"], expiresAt: null }),
    gets: "not_found",
  },
  "secrets.remove": {
    role: "admin",
    call: (api, at) => api.secrets.remove({ name: at.secretName }),
    gets: "not_found",
  },
  "triggers.inspect": { role: "viewer", call: (api, at) => api.triggers.inspect(at), gets: "not_found" },
  "triggers.deliveries": {
    role: "viewer",
    call: (api, at) => api.triggers.deliveries(at),
    gets: "not_found",
  },
  "triggers.delivery": { role: "viewer", call: (api, at) => api.triggers.delivery(at), gets: "not_found" },
  "triggers.previewMessage": {
    role: "member",
    call: (api, at) => api.triggers.previewMessage({ ...at, template: "{{ body }}" }),
    gets: "not_found",
  },
  "triggers.previewTemplate": {
    role: "member",
    call: (api) => api.triggers.previewTemplate({ template: "{{ body }}", body: "{}" }),
    gets: showsNothingForeign,
  },
  "triggers.create": {
    role: "member",
    call: (api, at) =>
      api.triggers.create({
        ...NEW_TRIGGER,
        slug: newId(),
        generateSecret: true,
        agent: at === foreign ? foreignAgent() : "helper",
      }),
    gets: "invalid_request",
  },
  "triggers.update": {
    role: "member",
    call: (api, at) => api.triggers.update({ ...NEW_TRIGGER, slug: at.triggerSlug, agent: "helper" }),
    gets: "not_found",
  },
  "triggers.setStatus": {
    role: "member",
    call: (api, at) => api.triggers.setStatus({ id: at.triggerId, status: "active" }),
    gets: "not_found",
  },
  "triggers.rotateAddress": {
    role: "member",
    call: (api, at) => api.triggers.rotateAddress({ id: at.triggerId }),
    gets: "not_found",
  },
  "triggers.sendTest": {
    role: "member",
    call: (api, at) => api.triggers.sendTest({ triggerId: at.triggerId, body: "{}" }),
    gets: "not_found",
  },
  "triggers.rotateSecret": {
    role: "member",
    call: (api, at) => api.triggers.rotateSecret({ id: at.triggerId, overlapSeconds: 0 }),
    gets: "not_found",
  },
  "triggers.redeliver": {
    role: "member",
    call: (api, at) => api.triggers.redeliver(at),
    gets: "not_found",
  },
  // Last: the trigger is gone for what follows.
  "triggers.remove": {
    role: "member",
    call: (api, at) => api.triggers.remove({ slug: at.triggerSlug }),
    gets: "not_found",
  },
};

function callAs(actor: Actor | null): Caller {
  return createDashboardCaller({ services: world, actor, requestId: "test" });
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "no error";
  } catch (error) {
    if (error instanceof TRPCError && isAppError(error.cause)) return error.cause.code;
    throw error;
  }
}

async function inputOf(call: Row["call"]): Promise<unknown> {
  let found: unknown;
  const record = (input: unknown) => {
    found = input;
    return Promise.resolve(null);
  };
  const recorder = createRecursiveProxy<Caller>(({ args: [input] }) => record(input));
  await call(recorder, mine);
  return found;
}

const HOLE = "(here)";
const nest = (open: string, close: string, depth: number) => `${open.repeat(depth)}0${close.repeat(depth)}`;

function placesIn(input: unknown): unknown[] {
  if (typeof input !== "object" || input === null) return [HOLE];
  const members = Object.entries(input).flatMap(([key, member]) =>
    placesIn(member).map((changed) => (Array.isArray(input) ? [changed] : { ...input, [key]: changed })),
  );
  return [HOLE, ...members];
}

const ROLES: MemberRole[] = ["viewer", "member", "admin", "owner"];

describe("every procedure of the dashboard", () => {
  it("is listed in the table", () => {
    expect(Object.keys(TABLE).sort()).toEqual(Object.keys(dashboardRouter._def.procedures).sort());
  });

  it.each(Object.keys(TABLE))("%s shows nothing of another organization", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    const actor = await createMember(world, own, "owner");
    if (typeof row.gets === "string") expect(await codeOf(row.call(callAs(actor), foreign))).toBe(row.gets);
    else expect(row.gets(await row.call(callAs(actor), foreign))).toBe(true);
  });

  it.each(Object.keys(TABLE))("%s is limited to its roles", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    expect(await codeOf(row.call(callAs(null), foreign))).toBe("unauthenticated");
    const key: Actor = {
      kind: "api_key",
      orgId: own.orgId,
      apiKeyId: own.apiKeyId,
      name: "ci",
      scopes: ["runs:read", "runs:start"],
      targetIds: [],
      maxCredits: null,
      suspended: false,
      plan: { apiAccess: true, startsPerMinute: 100, readsPerMinute: 600 },
    };
    expect(await codeOf(row.call(callAs(key), foreign))).toBe("unauthenticated");
    for (const role of ROLES) {
      const code = await codeOf(row.call(callAs(await createMember(world, own, role)), foreign));
      const allowed = ROLES.indexOf(role) >= ROLES.indexOf(row.role);
      expect(code === "forbidden", `${role}: ${code}`).toBe(!allowed);
    }
  });

  it.each(Object.keys(TABLE))("%s answers its lowest role about its own organization", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    const actor = await createMember(world, own, row.role);
    expect(await codeOf(row.call(callAs(actor), mine))).toBe("no error");
  });

  it.each(Object.keys(TABLE))("%s answers 400 to deep and wide input, wherever it is", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    const actor = await createMember(world, own, "owner");
    const url = `http://stepwell.test/api/trpc/${name}`;
    const post = (body: string) =>
      new Request(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    const get = (input: string) => new Request(`${url}?input=${encodeURIComponent(input)}`);
    for (const input of placesIn(await inputOf(row.call))) {
      for (const [value, request] of [
        [nest("[", "]", 20_000), post],
        [nest('{"a":', "}", 20_000), post],
        [`[${"{},".repeat(30_000)}0]`, post],
        [nest("[", "]", 300), get],
      ] as const) {
        const text = JSON.stringify(input).replace(JSON.stringify(HOLE), value);
        const rejected = respondToDashboard(world, request(text), { actor, sessionId: newId() });
        await expect(rejected).rejects.toMatchObject({ status: 400, code: "invalid_request" });
      }
    }
  });

  it("answers 400 to more calls than a page makes at once, before any is executed", async () => {
    const actor = await createMember(world, own, "viewer");
    const ask = async (calls: number) => {
      const paths = Array(calls).fill("credits.balance").join(",");
      const request = new Request(`http://stepwell.test/api/trpc/${paths}?batch=1&input={}`);
      const response = await respondToDashboard(world, request, { actor, sessionId: newId() });
      return { status: response.status, text: await response.text() };
    };
    expect((await ask(MAX_BATCHED_CALLS)).status).toBe(200);
    const rejected = await ask(MAX_BATCHED_CALLS + 1);
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('"code":"invalid_request"');
  });

  const PARTS: Record<
    string,
    (api: Caller, at: { runId: string; stepId: string; callId: string }) => Promise<unknown>
  > = {
    "runs.step": (api, at) => api.runs.step(at),
    "runs.modelCall": (api, at) => api.runs.modelCall(at),
    "runs.modelRequest": (api, at) => api.runs.modelRequest(at),
  };

  it.each(Object.keys(PARTS))("%s never mixes parts of two runs", async (name) => {
    const call = PARTS[name];
    if (!call) throw new Error(name);
    const api = callAs(await createMember(world, own, "owner"));
    const { stepId, callId } = foreign;
    expect(await codeOf(call(api, { runId: mine.runId, stepId, callId }))).toBe("not_found");
    expect(await codeOf(call(api, { ...mine, runId: foreign.runId }))).toBe("not_found");
    const another = await insertRun(world, own, {});
    expect(await codeOf(call(api, { ...mine, runId: another }))).toBe("not_found");
  });

  it("runs.compareConfigurations rejects another organization's run", async () => {
    const api = callAs(await createMember(world, own, "owner"));
    const [a, b] = [mine.runId, foreign.runId];
    expect(await codeOf(api.runs.compareConfigurations({ a, b }))).toBe("not_found");
    expect(await codeOf(api.runs.compareConfigurations({ a: b, b: a }))).toBe("not_found");
  });
});
