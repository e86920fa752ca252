// @module-tag once
import { expect, it } from "vitest";
import { errorResponses, WEBHOOK_ERRORS } from "@/server/api/openapi/responses";
import { handleWebhook } from "@/server/api/webhook";
import { DELIVERY_OUTCOMES, type DeliveryOutcomeName } from "@/server/contract/enums";
import type { ErrorCode } from "@/server/contract/errors";
import { MAX_BODY_BYTES } from "@/server/contract/sizes";
import { removeExpired } from "@/server/operate/retention";
import { createMember } from "@/testing/runs";
import { createTenant, createTrigger, openWorld, type Tenant } from "@/testing/world";
import { UNACCEPTED } from "./delivery-bounds";
import { inspectDelivery } from "./inspect-deliveries";
import { redeliver } from "./redeliver";

/**
 * The bytes that calls of one minute store are bounded for every outcome and every reason of a rejection. The
 * tables must name each, so a new one fails this test.
 */

const world = await openWorld();

type Trigger = Awaited<ReturnType<typeof createTrigger>>;
type Call = { method?: string; headers?: Record<string, string>; body?: string };
type Way = {
  prepare: () => Promise<Trigger>;
  change?: (call: Call) => Call;
  accepted?: number;
};

const ACCEPTED_PER_MINUTE = 30;
// 16 KiB of headers is Node's limit.
const OTHER_BYTES = 20 * 1024;

const prepare = async (options: Parameters<typeof createTrigger>[2] = {}, tenant?: Tenant) =>
  createTrigger(world, tenant ?? (await createTenant(world)), options);

const WAYS: Record<Exclude<DeliveryOutcomeName, "rejected">, Way> = {
  accepted: { prepare: () => prepare(), accepted: ACCEPTED_PER_MINUTE },
  repeated: {
    async prepare() {
      const trigger = await prepare();
      const first = await send(trigger, { body: "{}", headers: { "webhook-id": "once" } });
      expect(first.status).toBe(200);
      return trigger;
    },
    change: (call) => ({ ...call, headers: { ...call.headers, "webhook-id": "once" } }),
  },
  filtered: { prepare: () => prepare({ filter: "false" }) },
};

type Rejection =
  | "invalid_request"
  | "insufficient_credits"
  | "trigger_misconfigured"
  | "organization_suspended"
  | "invalid_signature"
  | "method_not_allowed"
  | "payload_too_large"
  | "rate_limited";

const REJECTIONS: Record<Rejection, Way> = {
  invalid_request: { prepare: () => prepare(), change: (call) => ({ ...call, body: `${call.body},` }) },
  insufficient_credits: { prepare: async () => prepare({}, await createTenant(world, { credits: "0" })) },
  trigger_misconfigured: {
    async prepare() {
      const tenant = await createTenant(world);
      await world.db.agent.update({ where: { id: tenant.agentId }, data: { status: "inactive" } });
      return prepare({}, tenant);
    },
  },
  organization_suspended: {
    async prepare() {
      const tenant = await createTenant(world);
      await world.db.organization.update({
        where: { id: tenant.orgId },
        data: { suspendedAt: world.clock.now() },
      });
      return prepare({}, tenant);
    },
  },
  invalid_signature: { prepare: () => prepare({ secrets: ["s3cret"] }) },
  method_not_allowed: { prepare: () => prepare(), change: (call) => ({ ...call, method: "PUT" }) },
  payload_too_large: {
    prepare: () => prepare(),
    change: (call) => ({ ...call, body: `${call.body}${" ".repeat(MAX_BODY_BYTES)}` }),
  },
  rate_limited: {
    async prepare() {
      const trigger = await prepare();
      for (let call = 0; call < ACCEPTED_PER_MINUTE; call += 1) await send(trigger, { body: "{}" });
      return trigger;
    },
  },
};

let calls = 0;

// Each address makes few calls, so that only the trigger's own bounds count.
async function send({ token }: Trigger, { method = "POST", headers, body }: Call) {
  calls += 1;
  const peer = `192.0.${calls % 200}.${Math.floor(calls / 200) % 250}`;
  const request = new Request(`http://stepwell.test/webhooks/${token}`, {
    method,
    headers: { "Content-Type": "application/json", "x-stepwell-peer": peer, ...headers },
    body: body ?? "",
  });
  return handleWebhook(world, request);
}

async function storedOf({ id }: Trigger) {
  const { rows } = await world.pool.query<{ names: string[]; bodies: number; others: number }>(
    `SELECT array_agg(DISTINCT coalesce(code, outcome::text)) AS names,
            coalesce(sum(octet_length(body)) FILTER (WHERE octet_length(body) > $2), 0)::int AS bodies,
            sum(octet_length(headers) + coalesce(octet_length(reason), 0) +
                CASE WHEN octet_length(body) > $2 THEN 0 ELSE octet_length(body) END)::int AS others
     FROM deliveries WHERE trigger_id = $1`,
    [id, UNACCEPTED.smallBytes],
  );
  return rows[0] ?? { names: [], bodies: 0, others: 0 };
}

const LARGE: Call = { body: `"${"x".repeat(MAX_BODY_BYTES - 100)}"` };
const SMALL: Call = { body: `"${"x".repeat(4000)}"`, headers: { "x-padding": "y".repeat(12_000) } };
// More than the bounds admit: 11 MiB of large bodies, 3 MiB of small calls.
const FLOOD = [...Array.from({ length: 11 }, () => LARGE), ...Array.from({ length: 190 }, () => SMALL)];

it.each(Object.entries({ ...WAYS, ...REJECTIONS }))(
  "%s calls store a bounded number of bytes in a minute",
  async (name, way) => {
    const trigger = await way.prepare();
    for (const call of FLOOD) await send(trigger, way.change?.(call) ?? call);
    const { names, bodies, others } = await storedOf(trigger);
    expect(names).toContain(name);
    const accepted = way.accepted ?? 0;
    expect(bodies).toBeLessThanOrEqual(UNACCEPTED.bodyBytes + accepted * MAX_BODY_BYTES);
    expect(others).toBeLessThanOrEqual(UNACCEPTED.rowBytes + accepted * OTHER_BYTES);
    // The calls of the next minute are recorded again.
    world.clock.advance(60_000);
    await send(trigger, way.change?.({ body: "{}" }) ?? { body: "{}" });
    const again = await world.db.delivery.count({
      where: { triggerId: trigger.id, receivedAt: { gte: world.clock.now() } },
    });
    expect(again).toBe(1);
  },
);

it("names every outcome and every rejection that a webhook may answer", () => {
  expect([...Object.keys(WAYS), "rejected"].sort()).toEqual([...DELIVERY_OUTCOMES].sort());
  const names = new Set<string>(Object.values(WEBHOOK_ERRORS));
  const codes = Object.entries(errorResponses())
    .filter(([name]) => names.has(name))
    .flatMap(([, { content }]) => Object.keys(content["application/json"].examples));
  // A call to an unknown trigger is not stored, and an error of the service cannot be caused.
  const elsewhere: ErrorCode[] = ["not_found", "internal_error"];
  expect([...Object.keys(REJECTIONS), ...elsewhere].sort()).toEqual([...new Set(codes)].sort());
});

it("redeliveries that are rejected count like calls", async () => {
  const tenant = await createTenant(world);
  const trigger = await prepare({}, tenant);
  expect((await send(trigger, LARGE)).status).toBe(200);
  await world.db.agent.update({ where: { id: tenant.agentId }, data: { status: "inactive" } });
  const { id: deliveryId } = await world.db.delivery.findFirstOrThrow({ where: { triggerId: trigger.id } });
  const member = await createMember(world, tenant, "member");
  for (let call = 0; call < 11; call += 1) {
    await expect(redeliver(world, member, { deliveryId })).rejects.toThrow("inactive");
  }
  // With the accepted one.
  expect((await storedOf(trigger)).bodies).toBeLessThanOrEqual(UNACCEPTED.bodyBytes + MAX_BODY_BYTES);
});

it("a repetition has no body, and names the delivery that has it", async () => {
  const tenant = await createTenant(world);
  const trigger = await prepare({}, tenant);
  const call = { body: '{"n":1}', headers: { "webhook-id": "once" } };
  for (const body of [call.body, call.body, '{"other":true}']) await send(trigger, { ...call, body });
  const [first, ...repetitions] = await world.db.delivery.findMany({
    where: { triggerId: trigger.id },
    orderBy: { id: "asc" },
  });
  const member = await createMember(world, tenant, "member");
  expect(repetitions.map(({ bodyBytes }) => bodyBytes)).toEqual([7, 14]);
  for (const { id: deliveryId, body } of repetitions) {
    expect(body).toHaveLength(0);
    expect(await inspectDelivery(world, member, { deliveryId })).toMatchObject({
      outcome: "repeated",
      firstDeliveryId: first?.id,
      body: { kind: "empty" },
    });
    await expect(redeliver(world, member, { deliveryId })).rejects.toThrow("whose delivery has the body");
  }
  await world.db.delivery.delete({ where: { id: first?.id ?? "" } });
  const [again] = repetitions;
  expect(await inspectDelivery(world, member, { deliveryId: again?.id ?? "" })).toMatchObject({
    firstDeliveryId: null,
  });
});

it("of a trigger's calls that started nothing, the hourly job keeps the newest", async () => {
  const tenant = await createTenant(world);
  const trigger = await prepare({}, tenant);
  const { rows } = UNACCEPTED.kept;
  await world.pool.query(
    `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, body, body_bytes)
     SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, $3, 'rejected', 400, 'invalid_request', 'x', '{}', ''::bytea, 0
     FROM generate_series(1, $4::int) AS n`,
    [tenant.orgId, trigger.id, world.clock.now(), rows + 250],
  );
  expect((await send(trigger, { body: "{}" })).status).toBe(200);
  expect((await removeExpired(world))?.rows).toMatchObject({ unacceptedDeliveries: 250 });
  const where = { triggerId: trigger.id };
  expect(await world.db.delivery.count({ where: { ...where, outcome: "accepted" } })).toBe(1);
  const oldest = await world.db.delivery.findFirst({ where, orderBy: { id: "asc" } });
  expect(oldest?.id.endsWith("fb")).toBe(true);
});
