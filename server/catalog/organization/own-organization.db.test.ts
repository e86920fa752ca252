import { beforeEach, expect, test } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import type { MemberRole } from "@/server/base/actor";
import { suspendOrganization } from "@/server/operate/suspend-organization";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { createApiKey, revokeApiKey } from "./api-keys";

let tenant: Tenant;
const world = await openWorld();
beforeEach(async () => {
  tenant = await createTenant(world, { plan: { concurrency: 3, startsPerMinute: null, retentionDays: 7 } });
});

const as = async (role: MemberRole) =>
  createDashboardCaller({ services: world, actor: await createMember(world, tenant, role), requestId: "t" })
    .organization;
const operator = () => ({ kind: "operator", orgId: tenant.orgId, name: "operator" }) as const;

test("the plan, the limits and what counts against them are facts", async () => {
  const { id } = await createApiKey(world, operator(), { name: "spare" });
  await revokeApiKey(world, operator(), { id });
  await world.db.organization.update({ where: { id: tenant.orgId }, data: { inFlight: 2 } });
  expect(await (await as("viewer")).inspect()).toMatchObject({
    slug: tenant.slug,
    suspended: null,
    plan: {
      apiAccess: true,
      concurrency: 3,
      startsPerMinute: "unlimited",
      readsPerMinute: 600,
      retentionDays: 7,
    },
    usage: {
      running: 2,
      members: 1,
      agents: 1,
      tools: 1,
      triggers: 0,
      secrets: 0,
      modelProviders: 0,
      apiKeys: 1,
    },
  });
});

test("the reason of a suspension is for admins and owners", async () => {
  await suspendOrganization(world, operator(), "unpaid");
  const suspended = async (role: MemberRole) => (await (await as(role)).inspect()).suspended;
  expect(await suspended("member")).toEqual({ at: world.clock.now().toISOString(), reason: null });
  expect(await suspended("admin")).toMatchObject({ reason: "unpaid" });
});

test("an owner renames the organization; the same name changes nothing", async () => {
  const api = await as("owner");
  expect(await api.rename({ name: "Brook & Sons" })).toEqual({ saved: "updated" });
  expect(await api.rename({ name: "Brook & Sons" })).toEqual({ saved: "unchanged" });
  await expect(api.rename({ name: " " })).rejects.toMatchObject({
    cause: { issues: [{ path: "/name", message: "must not be empty" }] },
  });
  expect((await api.inspect()).name).toBe("Brook & Sons");
  const audited = await world.db.auditEntry.findMany({ where: { organizationId: tenant.orgId } });
  expect(audited.map(({ action }) => action)).toEqual(["organization.updated"]);
});
