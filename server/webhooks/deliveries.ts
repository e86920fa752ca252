import type { OrgId } from "@/server/auth/actor";
import type { Queryable } from "@/server/db/sql";
import type { ErrorCode } from "@/server/errors";

/** A webhook call as received, stored for inspection and redelivery. */
export type ReceivedDelivery = {
  id: string;
  /** The request's headers as a JSON object, without secrets. */
  headers: string;
  /** Empty if it is not stored; `notStored` has the reason. */
  body: Buffer;
  notStored?: BodyNotStored;
  /** The sender's own id: Idempotency-Key or webhook-id. */
  senderId: string | null;
  redeliveryOf: string | null;
};

/** `bytes`: the size of the body as far as known. `reason` completes "The body was not kept: …". */
export type BodyNotStored = { bytes: number; reason: string };

/**
 * How much is stored of refused calls' bodies per trigger, so that nobody can fill the disk with one URL. `burst.bytes`
 * in `burst.seconds` from each process, and the newest `total` bytes. Small ones don't count.
 */
export const REFUSED_BODIES = {
  smallBytes: 4096,
  burst: { bytes: 8 * 1024 * 1024, seconds: 60 },
  total: 256 * 1024 * 1024,
} as const;

/** Headers whose values are never stored. */
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
const SECRET_NAME =
  /secret|token|passw|signature|credential|auth|session|jwt|hmac|(^|-)(key|sig|pwd)$|api-?key/i;
/** The sender's own ids, whatever they look like. */
const KNOWN_HEADERS = new Set(["idempotency-key", "webhook-id"]);

/** The headers of a delivery as JSON, without the values of secret ones. */
export function storedHeaders(headers: Iterable<[string, string]>): string {
  const stored: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) {
    if (name.startsWith("x-stepwell-")) continue;
    const secret = SECRET_HEADERS.has(name) || (SECRET_NAME.test(name) && !KNOWN_HEADERS.has(name));
    stored[name] = secret ? "[redacted]" : value.replaceAll("\0", "");
  }
  return JSON.stringify(stored);
}

export type DeliveryOutcome =
  | { outcome: "repeated"; runId: string }
  | { outcome: "rejected"; status: number; code: ErrorCode; reason: string };

/** Records a call that started no run; the start itself records accepted ones. */
export async function recordDelivery(
  client: Queryable,
  trigger: { orgId: OrgId; triggerId: string },
  {
    delivery,
    outcome,
    receivedAt,
  }: { delivery: ReceivedDelivery; outcome: DeliveryOutcome; receivedAt: Date },
): Promise<void> {
  const rejected = outcome.outcome === "rejected" ? outcome : undefined;
  await client.query(
    `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, body,
                             body_bytes, sender_id, redelivery_of, run_id, body_note)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::bytea, $14, $11, $12, $13, $15)`,
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
      delivery.notStored?.bytes ?? delivery.body.length,
      delivery.notStored?.reason ?? null,
    ],
  );
}
