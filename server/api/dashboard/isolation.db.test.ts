// @module-tag once
import { TRPCError } from "@trpc/server";
import { createRecursiveProxy } from "@trpc/server/unstable-core-do-not-import";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { respondToDashboard } from "@/server/api/dashboard/respond";
import { createDashboardCaller, dashboardRouter } from "@/server/api/dashboard/router";
import type { Actor, MemberRole } from "@/server/base/actor";
import { isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { removeDefinition } from "@/server/catalog/archive";
import { callbackSecretPurpose } from "@/server/catalog/callbacks/callback-secrets";
import { saveToolText } from "@/server/catalog/edit-definition";
import { createApiKey } from "@/server/catalog/organization/api-keys";
import { createInvitation } from "@/server/catalog/organization/invitations";
import { saveModelProvider } from "@/server/catalog/organization/model-providers";
import { setOperator } from "@/server/catalog/organization/operators";
import { setSecret } from "@/server/catalog/organization/secrets";
import { saveAgent } from "@/server/catalog/save-agent";
import { recordDelivery } from "@/server/catalog/webhooks/deliveries";
import { MAX_BATCHED_CALLS } from "@/server/contract/enums";
import { startFromDashboard } from "@/server/runs/rerun";
import type { OwnProvider } from "@/server/work/models/own-provider";
import { createMember, insertRun, TEST_PASSWORD } from "@/testing/runs";
import {
  createSchedule,
  createTenant,
  createTrigger,
  createWorld,
  type Tenant,
  type World,
} from "@/testing/world";

/**
 * Derives from the router, for each procedure, a call for another organization's things and the answer that it must
 * get. A new procedure fails this test if nothing can be derived, until EXCEPTIONS has a row.
 */

let world: World;
let own: Tenant;
let other: Tenant;
let mine: Things;
let foreign: Things;

type Things = Pick<Tenant, "orgId" | "agentId" | "toolId"> & {
  runId: string;
  parentId: string;
  stepId: string;
  callId: string;
  triggerId: string;
  triggerSlug: string;
  deliveryId: string;
  callbackId: string;
  callbackSlug: string;
  callbackDeliveryId: string;
  scheduleId: string;
  scheduleSlug: string;
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
  const schedule = await createSchedule(world, tenant);
  await world.db.scheduleTick.create({
    data: {
      scheduleId: schedule.id,
      organizationId: tenant.orgId,
      dueAt: world.clock.now(),
      attemptAt: world.clock.now(),
    },
  });
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
  const callbackId = newId();
  const callbackDeliveryId = newId();
  const callbackSlug = `c-${tenant.slug}`;
  await world.db.callbackEndpoint.create({
    data: {
      id: callbackId,
      organizationId: tenant.orgId,
      slug: callbackSlug,
      name: `Callback of ${tenant.slug}`,
      // Not https, so that a test of it makes no call, which is an outcome.
      url: "http://127.0.0.1:9/",
      events: ["run.completed"],
      createdAt: now,
      updatedAt: now,
      secrets: {
        create: {
          id: newId(),
          sealed: world.encryption.seal("whsec_AAAA", callbackSecretPurpose(callbackId)),
          createdAt: now,
        },
      },
      deliveries: {
        create: {
          id: callbackDeliveryId,
          organizationId: tenant.orgId,
          createdAt: now,
          attempts: 1,
          event: {
            create: {
              id: newId(),
              organizationId: tenant.orgId,
              type: "run.completed",
              runId,
              createdAt: now,
            },
          },
        },
      },
    },
  });
  return {
    ...ids,
    ...editable,
    callbackId,
    callbackSlug,
    callbackDeliveryId,
    parentId,
    triggerId: trigger.id,
    triggerSlug,
    deliveryId,
    scheduleId: schedule.id,
    scheduleSlug: schedule.slug,
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
type Call = (api: Caller, at: Things) => Promise<unknown>;
// For the other's ids: an error code, or a response without data.
type Gets = "not_found" | "invalid_request" | ((answer: unknown) => boolean);
// Procedures of `system` need an operator, whatever the role.
type Needed = MemberRole | "operator";
type Row = { role: Needed; call: Call; gets: Gets };

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
    foreign.email,
    foreign.invitationId,
    foreign.deliveryId,
    foreign.callbackId,
    foreign.callbackDeliveryId,
    foreign.scheduleId,
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
const NEW_CALLBACK = {
  url: "https://erp.test/hooks",
  events: ["run.completed" as const],
  status: "active" as const,
  agents: [],
  tools: [],
  triggers: [],
  metadata: {},
  creditsBelow: null,
};
const NEW_SCHEDULE = {
  cron: "0 8 * * *",
  timeZone: "UTC",
  message: "Hi",
  overlap: "skip" as const,
  catchUpSeconds: 3600,
  jitterSeconds: 0,
  paused: false,
};
const OUTPUT_SCHEMA = { type: "object", properties: { answer: { type: "string" } } };
const foreignAgent = () => `w-${other.slug}`;

// Views belong to a person: the caller's own, or another organization's.
async function viewOf(api: Caller, at: Things): Promise<string> {
  if (at === foreign) return at.viewId;
  const saved = await api.views.save({ name: newId(), query: "", columns: null });
  // `inputOf` gets nothing.
  return saved?.id ?? at.viewId;
}

// The procedures whose call and answer cannot be derived, and those that are shown better by a call of their
// own. For the other's ids a call alone gets `not_found`. In order: the last rows remove the trigger and
// schedule of what precedes.
const EXCEPTIONS: Record<string, Call | { ask: Call; gets: Gets }> = {
  // Always the caller's own.
  "views.save": {
    ask: (api) => api.views.save({ name: newId(), query: "", columns: null }),
    gets: showsNothingForeign,
  },
  "views.rename": async (api, at) => api.views.rename({ id: await viewOf(api, at), name: newId() }),
  "views.remove": async (api, at) => api.views.remove({ id: await viewOf(api, at) }),
  "account.switchOrganization": (api, at) => api.account.switchOrganization({ organizationId: at.orgId }),
  // Only the person's own sessions, also within the organization.
  "account.endSession": {
    ask: (api, at) => api.account.endSession({ sessionId: at.sessionId }),
    gets: (answer) => JSON.stringify(answer) === '{"ended":0}',
  },
  "account.changePassword": {
    ask: (api) =>
      api.account.changePassword({
        currentPassword: TEST_PASSWORD,
        newPassword: "another-horse-battery",
        endOtherSessions: true,
      }),
    gets: (answer) => JSON.stringify(answer) === '{"endedSessions":0}',
  },
  "callbacks.inspect": (api, at) => api.callbacks.inspect({ callbackId: at.callbackId }),
  "callbacks.deliveries": {
    ask: (api, at) => api.callbacks.deliveries({ callbackId: at.callbackId }),
    gets: (answer) => JSON.stringify(answer) === '{"items":[],"nextCursor":null}',
  },
  "callbacks.delivery": (api, at) => api.callbacks.delivery({ deliveryId: at.callbackDeliveryId }),
  // Before its address is changed.
  "callbacks.sendTest": (api, at) => api.callbacks.sendTest({ callbackId: at.callbackId }),
  "callbacks.create": {
    ask: (api) => api.callbacks.create({ ...NEW_CALLBACK, slug: `new-${newId().slice(-12)}` }),
    gets: showsNothingForeign,
  },
  "callbacks.update": (api, at) =>
    api.callbacks.update({ ...NEW_CALLBACK, slug: at.callbackSlug, replaces: {} }),
  "callbacks.setStatus": (api, at) => api.callbacks.setStatus({ id: at.callbackId, status: "inactive" }),
  "callbacks.rotateSecret": (api, at) => api.callbacks.rotateSecret({ id: at.callbackId, overlapSeconds: 0 }),
  "callbacks.redeliver": (api, at) => api.callbacks.redeliver({ deliveryId: at.callbackDeliveryId }),
  "callbacks.redeliverFailed": {
    ask: (api, at) =>
      api.callbacks.redeliverFailed({ callbackId: at.callbackId, since: "2026-01-01T00:00:00Z" }),
    gets: (answer) => JSON.stringify(answer) === '{"deliveries":0}',
  },
  // After the others: the callback is gone.
  "callbacks.remove": (api, at) => api.callbacks.remove({ id: at.callbackId }),
  "catalog.directory": {
    ask: (api) => api.catalog.directory(),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes(own.agentId),
  },
  "runs.list": {
    ask: (api, at) => api.runs.list({ filter: { toolId: at.toolId } }),
    gets: (answer) => JSON.stringify(answer) === '{"items":[],"nextCursor":null}',
  },
  "runs.byIds": { ask: (api, at) => api.runs.byIds({ ids: [at.runId] }), gets: isEmpty },
  "runs.children": { ask: (api, at) => api.runs.children({ runId: at.parentId }), gets: isEmpty },
  "runs.histogram": {
    ask: (api, at) => api.runs.histogram({ filter: { agentId: at.agentId } }),
    gets: (answer) => !/"runs":[1-9]/.test(JSON.stringify(answer)),
  },
  "runs.ids": { ask: (api) => api.runs.ids({ after: null }), gets: showsNothingForeign },
  "runs.fitting": { ask: (api, at) => api.runs.fitting({ ids: [at.runId] }), gets: isEmpty },
  "runs.metrics": {
    ask: (api, at) => api.runs.metrics({ period: "24h", subject: { dimension: "agent", id: at.agentId } }),
    gets: (answer) => JSON.stringify(answer).includes('"total":{"runs":0'),
  },
  "runs.compareConfigurations": (api, at) => api.runs.compareConfigurations({ a: at.runId, b: at.runId }),
  "runs.searchSteps": (api, at) => api.runs.searchSteps({ ...at, text: "e" }),
  "runs.neighbors": {
    ask: (api, at) => api.runs.neighbors({ runId: at.runId }),
    gets: showsNothingForeign,
  },
  "runs.start": (api, at) => api.runs.start({ kind: "agent", id: at.agentId, input: "Hello" }),
  "runs.tryAgent": (api, at) =>
    api.runs.tryAgent({
      agentId: at.agentId,
      definition: { slug: "draft", name: "Draft", model: "m", outputSchema: OUTPUT_SCHEMA },
      message: "Hello",
    }),
  "runs.tryTool": (api, at) => api.runs.tryTool({ toolId: at.toolId, yaml: toolYaml("draft"), input: "{}" }),
  "runs.cancelMatching": {
    ask: (api, at) => api.runs.cancelMatching({ filter: { toolId: at.toolId } }),
    gets: (answer) => JSON.stringify(answer) === '{"found":0,"next":null}',
  },
  "runs.cancel": (api, at) => api.runs.cancel({ runIds: [at.runId] }),
  // Only an ended run is forked.
  "runs.forkBase": (api, at) => api.runs.forkBase({ runId: at.runId }),
  "runs.forkEstimate": (api, at) =>
    api.runs.forkEstimate({ runId: at.runId, fromStep: 1, changes: {}, tools: "live" }),
  "runs.fork": (api, at) => api.runs.fork({ runId: at.runId, fromStep: 1, changes: {}, tools: "recorded" }),
  "credits.balance": {
    ask: (api) => api.credits.balance(),
    gets: (answer) => /"(8\d|9\d|100)\./.test(JSON.stringify(answer)),
  },
  "credits.ledger": {
    ask: (api) => api.credits.ledger({}),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes('"sequence":1,'),
  },
  "definitions.versions": (api, at) => api.definitions.versions({ kind: "agent", id: at.agentId }),
  "definitions.changes": (api, at) => api.definitions.changes({ kind: "tool", id: at.toolId, number: 1 }),
  "keys.create": {
    ask: (api, at) =>
      api.keys.create({ ...NEW_KEY, name: newId(), ...(at === foreign ? { agents: [foreignAgent()] } : {}) }),
    gets: "invalid_request",
  },
  "keys.revoke": (api, at) => api.keys.revoke({ id: at.keyId }),
  "members.invite": {
    ask: (api) => api.members.invite({ email: `${newId()}@stepwell.test`, role: "viewer" }),
    gets: showsNothingForeign,
  },
  "members.revokeInvitation": (api, at) => api.members.revokeInvitation({ id: at.invitationId }),
  "members.changeRole": (api, at) => api.members.changeRole({ userId: at.userId, role: "viewer" }),
  "members.createPasswordLink": (api, at) => api.members.createPasswordLink({ userId: at.userId }),
  "members.remove": (api, at) => api.members.remove({ userId: at.userId }),
  "definitions.checkTool": {
    ask: (api) => api.definitions.checkTool({ yaml: "slug: a" }),
    gets: showsNothingForeign,
  },
  "definitions.stepMentions": {
    ask: (api) => api.definitions.stepMentions({ yaml: "slug: a", step: "a" }),
    gets: showsNothingForeign,
  },
  "definitions.saveAgent": {
    ask: (api, at) =>
      api.definitions.saveAgent({
        definition: { slug: at.editedAgent.slug, name: "Taken", model: "m", outputSchema: OUTPUT_SCHEMA },
        expected: { only: "update", id: at.editedAgent.id, version: 1, replaces: {} },
      }),
    gets: "invalid_request",
  },
  "definitions.saveTool": {
    ask: (api, at) =>
      api.definitions.saveTool({
        yaml: toolYaml(at.editedTool.slug),
        expected: { only: "update", id: at.editedTool.id, version: 1, replaces: {} },
      }),
    gets: "invalid_request",
  },
  "definitions.returnTo": (api, at) =>
    api.definitions.returnTo({ kind: "tool", id: at.editedTool.id, number: 1, current: 1 }),
  "definitions.archive": (api, at) => api.definitions.archive({ kind: "agent", id: at.spareAgentId }),
  "definitions.restore": (api, at) => api.definitions.restore({ kind: "agent", id: at.archivedAgentId }),
  "definitions.archived": {
    ask: (api) => api.definitions.archived({ kind: "agent" }),
    gets: showsNothingForeign,
  },
  "organization.inspect": {
    ask: (api) => api.organization.inspect(),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes(own.slug),
  },
  "organization.firstSteps": {
    ask: (api) => api.organization.firstSteps(),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes(own.agentId),
  },
  "organization.rename": {
    ask: (api) => api.organization.rename({ name: own.slug }),
    gets: showsNothingForeign,
  },
  "models.users": { ask: (api, at) => api.models.users({ name: at.provider.name }), gets: isEmpty },
  "models.save": (api, { provider }) => api.models.save({ ...provider, replaces: provider }),
  // This world's client makes no calls, which is an outcome.
  "models.test": (api, { provider: { name, models } }) => api.models.test({ name, model: models[0] ?? "" }),
  "models.discover": {
    ask: (api, { provider: { baseUrl, apiKey } }) => api.models.discover({ baseUrl, apiKey }),
    gets: showsNothingForeign,
  },
  "models.remove": (api, at) => api.models.remove({ name: at.provider.name }),
  "secrets.users": { ask: (api, at) => api.secrets.users({ name: at.secretName }), gets: isEmpty },
  "secrets.create": {
    ask: (api) =>
      api.secrets.create({ name: `s_${newId().slice(-8)}`, value: "12345678", hosts: ["a.test"] }),
    gets: showsNothingForeign,
  },
  "secrets.replace": (api, at) =>
    api.secrets.replace({ name: at.secretName, value: "12345678", replaces: {} }),
  "secrets.changeRules": (api, at) =>
    api.secrets.changeRules({ name: at.secretName, hosts: ["b.test"], expiresAt: null, replaces: {} }),
  "secrets.remove": (api, at) => api.secrets.remove({ name: at.secretName }),
  "schedules.preview": {
    ask: (api) => api.schedules.preview({ cron: "0 8 * * *", timeZone: "UTC" }),
    gets: showsNothingForeign,
  },
  "schedules.create": {
    ask: (api, at) =>
      api.schedules.create({
        ...NEW_SCHEDULE,
        slug: newId(),
        agent: at === foreign ? foreignAgent() : "helper",
      }),
    gets: "invalid_request",
  },
  "schedules.update": (api, at) =>
    api.schedules.update({ ...NEW_SCHEDULE, slug: at.scheduleSlug, agent: "helper", replaces: {} }),
  "schedules.setPaused": (api, at) => api.schedules.setPaused({ id: at.scheduleId, paused: true }),
  "system.runJob": {
    ask: (api) => api.system.runJob({ name: "sample_queue" }),
    gets: showsNothingForeign,
  },
  "triggers.previewMessage": (api, at) => api.triggers.previewMessage({ ...at, template: "{{ body }}" }),
  "triggers.previewTemplate": {
    ask: (api) => api.triggers.previewTemplate({ template: "{{ body }}", body: "{}" }),
    gets: showsNothingForeign,
  },
  "triggers.create": {
    ask: (api, at) =>
      api.triggers.create({
        ...NEW_TRIGGER,
        slug: newId(),
        generateSecret: true,
        agent: at === foreign ? foreignAgent() : "helper",
      }),
    gets: "invalid_request",
  },
  "triggers.update": (api, at) =>
    api.triggers.update({ ...NEW_TRIGGER, slug: at.triggerSlug, agent: "helper", replaces: {} }),
  "triggers.setStatus": (api, at) => api.triggers.setStatus({ id: at.triggerId, status: "active" }),
  "triggers.rotateAddress": (api, at) => api.triggers.rotateAddress({ id: at.triggerId }),
  "triggers.sendTest": (api, at) => api.triggers.sendTest({ triggerId: at.triggerId, body: "{}" }),
  "triggers.rotateSecret": (api, at) => api.triggers.rotateSecret({ id: at.triggerId, overlapSeconds: 0 }),
  // Last: the trigger and the schedule are gone for what follows.
  "schedules.remove": (api, at) => api.schedules.remove({ slug: at.scheduleSlug }),
  "triggers.remove": (api, at) => api.triggers.remove({ slug: at.triggerSlug }),
};

/** Of calls that change something, by name or router; elsewhere a member may. */
const CHANGING_ROLES: Record<string, Needed> = {
  system: "operator",
  account: "viewer",
  views: "viewer",
  callbacks: "admin",
  "callbacks.redeliver": "member",
  "callbacks.redeliverFailed": "member",
  "callbacks.sendTest": "member",
  keys: "admin",
  members: "admin",
  models: "admin",
  secrets: "admin",
  organization: "owner",
};
/** Queries that not every viewer may make, by name or router. */
const READING_ROLES: Record<string, Needed> = {
  system: "operator",
  "members.invitations": "admin",
  "organization.audit": "admin",
  "models.offered": "member",
};

const IDS = [
  "agentId",
  "toolId",
  "runId",
  "stepId",
  "callId",
  "triggerId",
  "scheduleId",
  "deliveryId",
] as const;
const isId = (name: string): name is (typeof IDS)[number] => IDS.some((id) => id === name);

/** The ids that an input needs; null if it needs anything else. */
function neededIds(inputs: readonly unknown[]): (typeof IDS)[number][] | null {
  const [input] = inputs;
  if (input === undefined) return [];
  if (inputs.length > 1 || !(input instanceof z.ZodObject)) return null;
  const shape: Record<string, z.ZodType> = input.shape;
  const needed = Object.entries(shape).filter(([, field]) => !field.safeParse(undefined).success);
  const ids = needed.map(([name]) => name).filter(isId);
  return ids.length === needed.length ? ids : null;
}

function callByName(api: Caller, name: string, input: unknown): Promise<unknown> {
  const procedure = name.split(".").reduce<unknown>((at, key) => Reflect.get(Object(at), key), api);
  if (typeof procedure !== "function") throw new Error(`There is no procedure ${name}.`);
  return procedure(input);
}

function derived(name: string, inputs: readonly unknown[]): Omit<Row, "role"> | null {
  const ids = neededIds(inputs);
  if (ids === null) return null;
  const inputFor = (at: Things) =>
    inputs.length === 0 ? undefined : Object.fromEntries(ids.map((id) => [id, at[id]]));
  const call: Call = (api, at) => callByName(api, name, inputFor(at));
  return { call, gets: ids.length === 0 ? showsNothingForeign : "not_found" };
}

// The caller's types nest the procedures by router; at runtime they are in one list.
const procedureParts = z.object({ type: z.string(), inputs: z.array(z.unknown()) });

const procedures = Object.entries(dashboardRouter._def.procedures).map(([name, declared]) => {
  const { type, inputs } = procedureParts.parse(Reflect.get(Object(declared), "_def"));
  const exception = EXCEPTIONS[name];
  const row =
    typeof exception === "function"
      ? { call: exception, gets: "not_found" as const }
      : exception && { call: exception.ask, gets: exception.gets };
  const [router = ""] = name.split(".");
  const role =
    type === "query"
      ? (READING_ROLES[name] ?? READING_ROLES[router] ?? "viewer")
      : (CHANGING_ROLES[name] ?? CHANGING_ROLES[router] ?? "member");
  return { name, role, proof: row ?? derived(name, inputs) };
});

const order = Object.keys(EXCEPTIONS);
const TABLE: Record<string, Row> = Object.fromEntries(
  procedures
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .flatMap(({ name, role, proof }) => (proof === null ? [] : [[name, { role, ...proof }] as const])),
);

function callAs(actor: Actor | null): Caller {
  return createDashboardCaller({ services: world, actor, requestId: "test", sessionId: newId() });
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

async function inputOf(call: Call): Promise<unknown> {
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

async function createActor(role: Needed) {
  const actor = await createMember(world, own, role === "operator" ? "viewer" : role);
  if (role === "operator") await setOperator(world, { email: actor.email, isOperator: true });
  return actor;
}

describe("every procedure of the dashboard", () => {
  it("has a proof, derived or in EXCEPTIONS", () => {
    const missing = procedures.filter(({ proof }) => proof === null).map(({ name }) => name);
    const advice = missing.map(
      (name) =>
        `${name} takes more than ids: add a row to EXCEPTIONS that calls it with another organization's things, and say what it gets.`,
    );
    expect(advice).toEqual([]);
    const names = procedures.map(({ name }) => name);
    expect(order.filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(Object.keys(TABLE))("%s shows nothing of another organization", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    const actor = await createActor(row.role === "operator" ? "operator" : "owner");
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
      const allowed = row.role !== "operator" && ROLES.indexOf(role) >= ROLES.indexOf(row.role);
      expect(code === "forbidden", `${role}: ${code}`).toBe(!allowed);
    }
  });

  it.each(Object.keys(TABLE))("%s answers its lowest role about its own organization", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    expect(await codeOf(row.call(callAs(await createActor(row.role)), mine))).toBe("no error");
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
    "runs.stepDefinition": (api, at) => api.runs.stepDefinition(at),
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
