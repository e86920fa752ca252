import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Prisma } from "@/server/base/db/generated/client";
import { newId } from "@/server/base/ids";
import { signingSecretPurpose } from "@/server/catalog/webhooks/trigger";
import { createKey } from "@/testing/servers/rest-server";
import { createTenant, createTrigger, openWorld, type Tenant } from "@/testing/world";
import type { ApiRequest } from "./http/api-request";
import { respondToRest } from "./rest";
import { respondToWebhook } from "./webhook";

/** Rights that end while a body comes do not apply to its call. */

const world = await openWorld();

type Call = { path: string; body: object; headers?: Record<string, string>; meanwhile(): Promise<unknown> };

function callOf(tenant: Tenant, { path, body, headers = {}, meanwhile }: Call): ApiRequest {
  const sent = new Map(Object.entries({ "content-type": "application/json", ...headers }));
  return {
    method: "POST",
    path,
    query: "",
    header: (name) => sent.get(name) ?? null,
    headers: () => sent,
    peer: "192.0.2.1",
    signal: new AbortController().signal,
    async readBody() {
      await meanwhile();
      world.notifications.deliverLocally("configuration", tenant.orgId);
      return Buffer.from(JSON.stringify(body));
    },
  };
}

describe("a key", () => {
  const changes: [string, Prisma.ApiKeyUpdateManyMutationInput, number][] = [
    ["that was revoked", { revokedAt: world.clock.now() }, 401],
    ["that has expired", { expiresAt: world.clock.now() }, 401],
    ["that lost its scopes", { scopes: ["credits:read"] }, 403],
    ["that was limited to other agents and tools", { targetIds: [newId()] }, 403],
  ];

  it.each(changes)("%s starts and estimates nothing", async (_, data, status) => {
    const tenant = await createTenant(world);
    for (const call of ["run", "estimate"]) {
      const key = await createKey(world, tenant);
      const path =
        call === "run" ? `/v1/agents/run/${tenant.agentId}` : `/v1/agents/${tenant.agentId}/estimate`;
      const request = callOf(tenant, {
        path,
        body: { userMessage: "Hello" },
        headers: { "x-api-key": key },
        meanwhile: () =>
          world.db.apiKey.updateMany({ where: { organizationId: tenant.orgId, name: "lists" }, data }),
      });
      expect((await respondToRest(world, request)).status).toBe(status);
    }
    expect(await world.db.run.count({ where: { organizationId: tenant.orgId } })).toBe(0);
  });
});

describe("a trigger", () => {
  const changes: [string, (id: string) => Promise<unknown>, number, string][] = [
    ["that was archived", (id) => update(id, { deletedAt: world.clock.now() }), 404, "not_found"],
    [
      "that was disabled",
      (id) => update(id, { disabledAt: world.clock.now() }),
      400,
      "trigger_misconfigured",
    ],
  ];
  const update = (id: string, data: Prisma.TriggerUpdateInput) =>
    world.db.trigger.update({ where: { id }, data });

  it.each(changes)("%s starts nothing", async (_, change, status, code) => {
    const tenant = await createTenant(world);
    const { id, token } = await createTrigger(world, tenant);
    const meanwhile = () => change(id);
    const request = callOf(tenant, { path: `/webhooks/${token}`, body: { hello: 1 }, meanwhile });
    const answer = await respondToWebhook(world, request);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, code]);
    const delivery = await world.db.delivery.findFirstOrThrow({ where: { triggerId: id } });
    expect(delivery).toMatchObject({ outcome: "rejected", status, runId: null });
  });

  it("no longer accepts a secret that was replaced", async () => {
    const tenant = await createTenant(world);
    const { id, token } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
    const body = { hello: 1 };
    const signature = createHmac("sha256", "s3cret").update(JSON.stringify(body)).digest("hex");
    const replace = () =>
      world.db.triggerSecret.updateMany({
        where: { triggerId: id },
        data: { sealed: world.encryption.seal("other", signingSecretPurpose(id)) },
      });
    const send = (meanwhile: () => Promise<unknown>) =>
      respondToWebhook(
        world,
        callOf(tenant, {
          path: `/webhooks/${token}`,
          body,
          headers: { "x-signature": signature },
          meanwhile,
        }),
      );
    expect((await send(async () => {})).status).toBe(200);
    expect((await send(replace)).status).toBe(401);
  });
});
