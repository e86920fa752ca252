import { TRPCError } from "@trpc/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDashboardCaller, dashboardRouter } from "@/server/api/dashboard/router";
import type { Actor, MemberRole } from "@/server/auth/actor";
import { saveAgent } from "@/server/catalog/save-agent";
import { isAppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { createMember, insertRun } from "@/server/testing/runs";
import { createTenant, createTrigger, createWorld, type Tenant, type World } from "@/server/testing/world";
import { recordDelivery } from "@/server/webhooks/deliveries";

/**
 * Every procedure of the dashboard against another organization's ids, and against every role. The table below must
 * name each procedure of the router: a new one fails this test until somebody says what it may show to whom.
 */

let world: World;
let own: Tenant;
let other: Tenant;
let foreign: {
  runId: string;
  stepId: string;
  callId: string;
  triggerId: string;
  deliveryId: string;
  email: string;
};

beforeAll(async () => {
  world = await createWorld();
  own = await createTenant(world);
  other = await createTenant(world);
  const runId = await insertRun(world, other, { steps: 1, input: '{"secret":"of the other"}' });
  const step = await world.db.step.findFirstOrThrow({ where: { runId } });
  const call = await world.db.modelCall.create({
    data: {
      id: "01a1fcbf-154d-753b-9337-362115800cb2",
      organizationId: other.orgId,
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
  const trigger = await createTrigger(world, other);
  const deliveryId = newId();
  await recordDelivery(
    world.pool,
    { orgId: other.orgId, triggerId: trigger.id },
    { id: deliveryId, headers: "{}", body: Buffer.from("{}"), senderId: null, redeliveryOf: null },
    { outcome: "rejected", status: 400, code: "invalid_request", reason: "Because." },
    world.clock.now(),
  );
  const { email } = await createMember(world, other, "owner");
  await saveAgent(
    world,
    { kind: "operator", orgId: other.orgId, name: "operator" },
    { slug: "w", name: "W", model: "m" },
  );
  foreign = { email, runId, stepId: step.id, callId: call.id, triggerId: trigger.id, deliveryId };
});
afterAll(() => world.close());

type Caller = ReturnType<typeof createDashboardCaller>;
type Row = {
  /** The least role that may call it. */
  role: MemberRole;
  /** A call with the other organization's ids. */
  call: (api: Caller) => Promise<unknown>;
  /** What a member of this organization gets for it: an error code, or an answer that shows nothing. */
  gets: "not_found" | ((answer: unknown) => boolean);
};

const isEmpty = (answer: unknown) => JSON.stringify(answer) === "[]";
/** Lists of our own things: nothing in them is the other's. */
const showsNothingForeign = (answer: unknown) =>
  ![other.orgId, other.agentId, other.toolId, other.apiKeyId, foreign.runId, other.slug].some((id) =>
    JSON.stringify(answer).includes(id),
  );

const TABLE: Record<string, Row> = {
  "account.organizations": {
    role: "viewer",
    call: (api) => api.account.organizations(),
    gets: showsNothingForeign,
  },
  "account.switchOrganization": {
    role: "viewer",
    call: (api) => api.account.switchOrganization({ organizationId: other.orgId }),
    gets: "not_found",
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
    call: (api) => api.runs.list({ filter: { toolId: other.toolId } }),
    gets: (answer) => JSON.stringify(answer) === '{"items":[],"nextCursor":null}',
  },
  "runs.byIds": { role: "viewer", call: (api) => api.runs.byIds({ ids: [foreign.runId] }), gets: isEmpty },
  "runs.ids": { role: "viewer", call: (api) => api.runs.ids({ after: null }), gets: isEmpty },
  "runs.fitting": {
    role: "viewer",
    call: (api) => api.runs.fitting({ ids: [foreign.runId] }),
    gets: isEmpty,
  },
  "runs.metrics": {
    role: "viewer",
    call: (api) => api.runs.metrics({ period: "24h" }),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes('"total":{"runs":0'),
  },
  "runs.inspect": {
    role: "viewer",
    call: (api) => api.runs.inspect({ runId: foreign.runId }),
    gets: "not_found",
  },
  "runs.step": { role: "viewer", call: (api) => api.runs.step(foreign), gets: "not_found" },
  "runs.modelRequest": {
    role: "viewer",
    call: (api) => api.runs.modelRequest(foreign),
    gets: "not_found",
  },
  "runs.configuration": {
    role: "viewer",
    call: (api) => api.runs.configuration(foreign),
    gets: "not_found",
  },
  "runs.compareConfigurations": {
    role: "viewer",
    call: (api) => api.runs.compareConfigurations({ a: foreign.runId, b: foreign.runId }),
    gets: "not_found",
  },
  "runs.searchSteps": {
    role: "viewer",
    call: (api) => api.runs.searchSteps({ ...foreign, text: "e" }),
    gets: "not_found",
  },
  "runs.neighbours": {
    role: "viewer",
    call: (api) => api.runs.neighbours({ runId: foreign.runId }),
    gets: showsNothingForeign,
  },
  "runs.pulse": { role: "viewer", call: (api) => api.runs.pulse(foreign), gets: "not_found" },
  "runs.modelCall": { role: "viewer", call: (api) => api.runs.modelCall(foreign), gets: "not_found" },
  "runs.start": {
    role: "member",
    call: (api) => api.runs.start({ kind: "agent", id: other.agentId, input: "Hello" }),
    gets: "not_found",
  },
  "runs.rerun": {
    role: "member",
    call: (api) => api.runs.rerun({ runId: foreign.runId }),
    gets: "not_found",
  },
  "runs.cancelMatching": {
    role: "member",
    call: (api) => api.runs.cancelMatching({ filter: { toolId: other.toolId } }),
    gets: (answer) => JSON.stringify(answer) === '{"found":0,"next":null}',
  },
  "runs.cancel": {
    role: "member",
    call: (api) => api.runs.cancel({ runIds: [foreign.runId] }),
    gets: "not_found",
  },
  "credits.balance": {
    role: "viewer",
    call: (api) => api.credits.balance(),
    gets: (answer) => JSON.stringify(answer).includes('"available":"100.0000"'),
  },
  "credits.ledger": {
    role: "viewer",
    call: (api) => api.credits.ledger({}),
    gets: (answer) => showsNothingForeign(answer) && JSON.stringify(answer).includes('"sequence":1,'),
  },
  "definitions.agent": {
    role: "viewer",
    call: (api) => api.definitions.agent({ agentId: other.agentId }),
    gets: "not_found",
  },
  "definitions.tool": {
    role: "viewer",
    call: (api) => api.definitions.tool({ toolId: other.toolId }),
    gets: "not_found",
  },
  "definitions.versions": {
    role: "viewer",
    call: (api) => api.definitions.versions({ kind: "agent", id: other.agentId }),
    gets: "not_found",
  },
  "definitions.changes": {
    role: "viewer",
    call: (api) => api.definitions.changes({ kind: "tool", id: other.toolId, number: 1 }),
    gets: "not_found",
  },
  "organization.members": {
    role: "viewer",
    call: (api) => api.organization.members(),
    gets: (answer) => !JSON.stringify(answer).includes(foreign.email),
  },
  "organization.audit": {
    role: "admin",
    call: (api) => api.organization.audit({}),
    gets: (answer) => JSON.stringify(answer) === '{"items":[],"nextCursor":null}',
  },
  "triggers.inspect": { role: "viewer", call: (api) => api.triggers.inspect(foreign), gets: "not_found" },
  "triggers.deliveries": {
    role: "viewer",
    call: (api) => api.triggers.deliveries(foreign),
    gets: "not_found",
  },
  "triggers.delivery": { role: "viewer", call: (api) => api.triggers.delivery(foreign), gets: "not_found" },
  "triggers.previewMessage": {
    role: "member",
    call: (api) => api.triggers.previewMessage({ ...foreign, template: "{{ body }}" }),
    gets: "not_found",
  },
  "triggers.redeliver": {
    role: "member",
    call: (api) => api.triggers.redeliver(foreign),
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

const ROLES: MemberRole[] = ["viewer", "member", "admin", "owner"];

describe("every procedure of the dashboard", () => {
  it("stands in the table", () => {
    expect(Object.keys(TABLE).sort()).toEqual(Object.keys(dashboardRouter._def.procedures).sort());
  });

  it.each(Object.keys(TABLE))("%s shows nothing of another organization", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    const actor = await createMember(world, own, "owner");
    if (row.gets === "not_found") expect(await codeOf(row.call(callAs(actor)))).toBe("not_found");
    else expect(row.gets(await row.call(callAs(actor)))).toBe(true);
  });

  it.each(Object.keys(TABLE))("%s is for its roles alone", async (name) => {
    const row = TABLE[name];
    if (!row) throw new Error(name);
    expect(await codeOf(row.call(callAs(null)))).toBe("unauthenticated");
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
    expect(await codeOf(row.call(callAs(key)))).toBe("unauthenticated");
    for (const role of ROLES) {
      const code = await codeOf(row.call(callAs(await createMember(world, own, role))));
      const allowed = ROLES.indexOf(role) >= ROLES.indexOf(row.role);
      expect(code === "forbidden", `${role}: ${code}`).toBe(!allowed);
    }
  });
});
