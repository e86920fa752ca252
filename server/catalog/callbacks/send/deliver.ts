import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { mintOrgId } from "@/server/base/mint-org-id";
import { pauseAt } from "@/server/base/pause-points";
import { callbackSecretPurpose } from "@/server/catalog/callbacks/callback-secrets";
import type { Services } from "@/server/catalog/services";
import { type AttemptResult, attemptCall } from "./attempt";
import { disableEndpoint } from "./disable-endpoint";
import { renderCallback } from "./payload";
import { DISABLED_AFTER_MS, LONGEST_PAUSE_MS, pauseAfter } from "./schedule";
import { signedHeaders, webhookId } from "./sign";

// The receiver wants this event no more; it may want others.
const GONE = 410;

/** A delivery that this process leased, and the number of its attempt. */
export type Leased = { delivery: string; org: string; attempt: number };

const READ_DELIVERY = defineQuery(
  "read-callback-delivery",
  z.object({
    eventId: z.string(),
    endpointId: z.string(),
    failures: z.number(),
    type: z.string(),
    at: z.date(),
    runId: z.string().nullable(),
    data: z.string().nullable(),
    reason: z.string().nullable(),
    until: z.date().nullable(),
    url: z.string().nullable(),
    secrets: z.array(z.string()),
  }),
  `SELECT d.event_id AS "eventId", d.endpoint_id AS "endpointId", d.failures, e.type, e.created_at AS at, e.run_id AS "runId", e.data,
     w.reason, w.until, coalesce(c.url, r.callback_url) AS url,
     ARRAY(SELECT s.sealed FROM callback_secrets s WHERE s.endpoint_id = c.id AND (s.expires_at IS NULL OR s.expires_at > $3)
           ORDER BY s.created_at DESC, s.id DESC) AS secrets
   FROM callback_deliveries d JOIN callback_events e ON e.id = d.event_id JOIN callback_endpoints c ON c.id = d.endpoint_id
   LEFT JOIN runs r ON r.id = e.run_id LEFT JOIN run_events w ON w.run_id = e.run_id AND w.n = e.wait
   WHERE d.id = $1 AND d.organization_id = $2`,
);

// A late result counts, too: what was delivered is delivered.
const RECORD_SUCCESS = defineQuery(
  "record-callback-success",
  z.object({}),
  `WITH delivered AS (
     UPDATE callback_deliveries SET delivered_at = coalesce($3, clock_timestamp()), next_at = NULL, leased_until = NULL
     WHERE id = $1 RETURNING endpoint_id
   ), healthy AS (
     UPDATE callback_endpoints SET failing_since = NULL
     WHERE id = (SELECT endpoint_id FROM delivered) AND failing_since IS NOT NULL AND disabled_at IS NULL
   )
   INSERT INTO callback_attempts (delivery_id, number, at, duration_ms, status, answer)
   SELECT $1::uuid, $2::int, $4::timestamptz, $5::int, $6::int, $7::text FROM delivered ON CONFLICT DO NOTHING RETURNING 1`,
);

// Returns since when the endpoint fails; none if this attempt says nothing about that. Another process may have started a
// later attempt, which then decides. A person who sent it again during the attempt set `failures` to 0: then it is due as
// that person wanted. Time without attempts does not count: the organization was suspended, or no process was running.
const RECORD_FAILURE = defineQuery(
  "record-callback-failure",
  z.object({ failingSince: z.date().nullable() }),
  `WITH moment AS (SELECT coalesce($3, clock_timestamp()) AS now), failed AS (
     UPDATE callback_deliveries SET leased_until = NULL,
       failures = failures + CASE WHEN failures = $10 THEN 1 ELSE 0 END,
       next_at = CASE WHEN failures = $10 THEN moment.now + make_interval(secs => $9::float8) ELSE next_at END
     FROM moment WHERE id = $1 AND attempts = $2 AND next_at IS NOT NULL RETURNING endpoint_id
   ), attempt AS (
     INSERT INTO callback_attempts (delivery_id, number, at, duration_ms, status, answer, error)
     SELECT $1::uuid, $2::int, $4::timestamptz, $5::int, $6::int, $7::text, $8::text WHERE EXISTS (SELECT FROM callback_deliveries WHERE id = $1) ON CONFLICT DO NOTHING
   )
   UPDATE callback_endpoints SET failed_at = $4, failing_since = CASE
     WHEN failing_since IS NOT NULL AND failed_at > $4::timestamptz - make_interval(secs => ${LONGEST_PAUSE_MS / 1000}) THEN failing_since
     WHEN $9::float8 IS NOT NULL THEN $4 END
   WHERE id = (SELECT endpoint_id FROM failed) AND slug IS NOT NULL AND NOT $11 RETURNING failing_since AS "failingSince"`,
);

type Delivery = Awaited<ReturnType<typeof READ_DELIVERY>>[number] & { orgId: OrgId };

/** Sends a leased delivery once and records the result, which it returns. `client` executes its statements. */
export async function deliver(
  services: Services,
  client: Queryable,
  { delivery, org, attempt }: Leased,
): Promise<AttemptResult | null> {
  const { clock } = services;
  const orgId = mintOrgId(org);
  const startedAt = clock.now();
  const [found] = await READ_DELIVERY(client, [delivery, orgId, startedAt]);
  if (found === undefined) return null;
  const { isFinal, retryAfterMs, ...result } = await send(services, client, { ...found, orgId });
  await pauseAt("callback:sent");
  const { status, error, answer, durationMs } = result;
  const facts = [delivery, attempt, clock.forDatabase(), startedAt, durationMs, status, answer];
  if (error === null) {
    await RECORD_SUCCESS(client, facts);
    return result;
  }
  const pause = isFinal || status === GONE ? null : pauseAfter(found.failures + 1, { retryAfterMs });
  const [endpoint] = await RECORD_FAILURE(client, [
    ...facts,
    error,
    pause && pause / 1000,
    found.failures,
    isFinal,
  ]);
  const failingSince = endpoint?.failingSince ?? null;
  if (failingSince !== null && startedAt.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS) {
    await disableEndpoint(services, { orgId, endpointId: found.endpointId, failingSince, lastError: error });
  }
  return result;
}

/** `isFinal`: there is no other attempt, and this one says nothing about the endpoint. */
async function send(
  services: Services,
  client: Queryable,
  delivery: Delivery,
): Promise<Awaited<ReturnType<typeof attemptCall>> & { isFinal: boolean }> {
  const { orgId, endpointId, eventId, url, type, at, runId, data, reason, until } = delivery;
  const { encryption, env, clock } = services;
  const purpose = callbackSecretPurpose(endpointId);
  const secrets = delivery.secrets.flatMap((sealed) => encryption.openOrNull(sealed, purpose) ?? []);
  if (secrets.length === 0)
    return unsent("The endpoint has no secret that can be read. Rotate its secret.", false);
  const now = clock.now();
  const event = { orgId, type, at, runId, data, wait: reason === null ? null : { reason, until } };
  const body = await renderCallback(client, event, { appUrl: env.appUrl, now });
  if (body === null || url === null) return unsent("The run was deleted, so there is nothing to send.", true);
  const headers = signedHeaders(secrets, { id: webhookId(eventId, endpointId), at: now, body });
  const result = await attemptCall(services, { owner: `${orgId}:callbacks`, url, headers, body, secrets });
  return { ...result, isFinal: type === "test" };
}

const unsent = (error: string, isFinal: boolean) => ({
  status: null,
  error,
  answer: "",
  durationMs: 0,
  isFinal,
});
