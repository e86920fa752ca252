import type { OrgId } from "@/server/base/actor";
import { defineCommand } from "@/server/base/db/statement";
import type { AppError } from "@/server/base/errors";
import type { Services } from "@/server/catalog/services";
import type { ErrorCode } from "@/server/contract/errors";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";
import { boundDelivery } from "./delivery-bounds";

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
const SENSITIVE_HEADER =
  /secret|token|passw|signature|credential|auth|session|jwt|hmac|(^|-)(key|sig|pwd)$|api-?key/i;
// The sender's own ids, whatever they look like.
const KNOWN_HEADERS = new Set(["idempotency-key", "webhook-id"]);

/** The headers of a delivery as JSON, without the values of secret ones and of `signatureHeader`. */
export function storedHeaders(headers: Iterable<[string, string]>, signatureHeader: string): string {
  const stored: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) {
    if (name.startsWith("x-stepwell-")) continue;
    const secret =
      name === signatureHeader ||
      SECRET_HEADERS.has(name) ||
      (SENSITIVE_HEADER.test(name) && !KNOWN_HEADERS.has(name));
    stored[name] = secret ? "[redacted]" : value.replaceAll("\0", "");
  }
  return JSON.stringify(stored);
}

type DeliveryOutcome =
  | { outcome: "repeated"; runId: string }
  | { outcome: "filtered"; reason: string | null }
  | { outcome: "rejected"; status: number; code: ErrorCode; reason: string };

const INSERT = defineCommand(
  "insert-delivery",
  `INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, body,
                           body_bytes, body_note, signature_check, sender_id, redelivery_of, run_id)
   SELECT id, organization_id, trigger_id, received_at, outcome, status, code, reason, headers, decode(body, 'base64'),
          body_bytes, body_note, signature_check, sender_id, redelivery_of, run_id
   FROM json_to_record($1) AS delivery (id uuid, organization_id uuid, trigger_id uuid, received_at timestamptz,
          outcome delivery_outcome, status int, code text, reason text, headers text, body text, body_bytes int,
          body_note text, signature_check text, sender_id text, redelivery_of uuid, run_id uuid)`,
);

/** Records a call that started no run, within the trigger's bounds; the start itself records accepted ones. */
export async function recordDelivery(
  services: Pick<Services, "pool" | "clock">,
  { orgId, triggerId }: { orgId: OrgId; triggerId: string },
  { outcome, receivedAt, ...received }: Recorded & { outcome: DeliveryOutcome },
): Promise<void> {
  const call = { delivery: received.delivery, outcome: outcome.outcome };
  const delivery = boundDelivery(services, { triggerId }, call);
  if (delivery === null) return;
  const rejected = outcome.outcome === "rejected" ? outcome : undefined;
  const row = {
    id: delivery.id,
    organization_id: orgId,
    trigger_id: triggerId,
    received_at: receivedAt,
    outcome: outcome.outcome,
    status: rejected?.status ?? 200,
    code: rejected?.code ?? null,
    reason: outcome.outcome === "repeated" ? null : (outcome.reason?.toWellFormed() ?? null),
    headers: delivery.headers,
    body: delivery.body.toString("base64"),
    body_bytes: delivery.notStored?.bytes ?? delivery.body.length,
    body_note: delivery.notStored?.reason ?? null,
    signature_check: delivery.signatureCheck ?? null,
    sender_id: delivery.senderId,
    redelivery_of: delivery.redeliveryOf,
    run_id: outcome.outcome === "repeated" ? outcome.runId : null,
  };
  await INSERT(services.pool, [JSON.stringify(row)]);
}

type Recorded = { delivery: ReceivedDelivery; receivedAt: Date };

/** Records a call that was rejected; `reason` is the error's message unless it is given. */
export function recordRejection(
  services: Pick<Services, "pool" | "clock">,
  trigger: { orgId: OrgId; triggerId: string },
  { error, reason = error.message, ...recorded }: Recorded & { error: AppError; reason?: string },
): Promise<void> {
  const { code, status } = error;
  return recordDelivery(services, trigger, {
    ...recorded,
    outcome: { outcome: "rejected", code, status, reason },
  });
}
