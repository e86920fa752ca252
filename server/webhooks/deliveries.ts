import type { OrgId } from "@/server/auth/actor";
import type { Queryable } from "@/server/db/sql";
import type { ErrorCode } from "@/server/errors";

/** One webhook call as received, kept for inspection and redelivery. */
export type ReceivedDelivery = {
  id: string;
  /** JSON object of the request's headers, without secrets. */
  headers: string;
  body: Buffer;
  /** The sender's own id for it: Idempotency-Key or webhook-id. */
  senderId: string | null;
  redeliveryOf: string | null;
};

/** Header values that are never kept. */
const SECRET_HEADERS = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
  "x-api-key",
  "x-signature",
  "webhook-signature",
  "x-hub-signature",
  "x-hub-signature-256",
]);
const SECRET_NAME = /secret|token|password|api-?key|signature|credential/i;

/** The headers of a delivery as JSON, with the values of secret ones left out. */
export function keptHeaders(headers: Headers): string {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name.startsWith("x-stepwell-")) continue;
    kept[name] =
      SECRET_HEADERS.has(name) || SECRET_NAME.test(name) ? "[redacted]" : value.replaceAll("\0", "");
  }
  return JSON.stringify(kept);
}

export type DeliveryOutcome =
  | { outcome: "repeated"; runId: string }
  | { outcome: "rejected"; status: number; code: ErrorCode; reason: string };

/** Records a call that started no run of its own; accepted ones are recorded by the start itself. */
export async function recordDelivery(
  client: Queryable,
  trigger: { orgId: OrgId; triggerId: string },
  delivery: ReceivedDelivery,
  outcome: DeliveryOutcome,
  receivedAt: Date,
): Promise<void> {
  const rejected = outcome.outcome === "rejected" ? outcome : undefined;
  await client.query(
    `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, body,
                             body_bytes, sender_id, redelivery_of, run_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::bytea, octet_length($10::bytea), $11, $12, $13)`,
    [
      delivery.id,
      trigger.orgId,
      trigger.triggerId,
      receivedAt,
      outcome.outcome,
      rejected?.status ?? 200,
      rejected?.code ?? null,
      rejected?.reason ?? null,
      delivery.headers,
      delivery.body,
      delivery.senderId,
      delivery.redeliveryOf,
      outcome.outcome === "repeated" ? outcome.runId : null,
    ],
  );
}
