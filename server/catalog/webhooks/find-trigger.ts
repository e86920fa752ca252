import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { decimalText } from "@/server/base/amount";
import { lookupsOf } from "@/server/base/db/limited-statements";
import { defineQuery } from "@/server/base/db/statement";
import { mintOrgId } from "@/server/base/mint-org-id";
import { sha256 } from "@/server/base/sha256";
import type { Services } from "@/server/catalog/services";
import { signingSecretPurpose, type Trigger } from "@/server/catalog/webhooks/trigger";
import { RUN_KINDS } from "@/server/contract/enums";
import { EncryptionError } from "@/server/guard/secrets/encryption";
import { senderOf, storedSignature } from "./senders/signature-definition";

const SELECT = `
  SELECT t.id, t.organization_id AS "orgId", t.name, CASE WHEN t.agent_id IS NULL THEN 'tool' ELSE 'agent' END AS kind,
         coalesce(t.agent_id, t.tool_id) AS "targetId", t.signature, t.filter,
         json_build_object('requests', t.rate_limit_requests, 'seconds', t.rate_limit_seconds) AS "rateLimit",
         t.message_template AS "messageTemplate", t.max_credits AS "maxCredits", t.disabled_at IS NOT NULL AS disabled,
         o.suspended_at IS NOT NULL AS suspended, a.status = 'inactive' AS inactive,
         coalesce(a.deleted_at, l.deleted_at) IS NOT NULL AS "targetGone",
         (SELECT coalesce(json_agg(json_build_object('sealed', s.sealed, 'expiresAt', s.expires_at) ORDER BY s.created_at DESC), '[]')
          FROM trigger_secrets s WHERE s.trigger_id = t.id AND (s.expires_at IS NULL OR s.expires_at > $1)) AS secrets
  FROM triggers t
  JOIN organizations o ON o.id = t.organization_id
  LEFT JOIN agents a ON a.id = t.agent_id
  LEFT JOIN tools l ON l.id = t.tool_id
  WHERE t.deleted_at IS NULL AND`;

const triggerRow = z.object({
  id: z.string(),
  orgId: z.string().transform(mintOrgId),
  name: z.string(),
  kind: z.enum(RUN_KINDS),
  targetId: z.string(),
  signature: storedSignature,
  filter: z.string().nullable(),
  rateLimit: z.object({ requests: z.number(), seconds: z.number() }),
  messageTemplate: z.string().nullable(),
  maxCredits: decimalText.nullable(),
  disabled: z.boolean(),
  suspended: z.boolean(),
  inactive: z.boolean().nullable(),
  targetGone: z.boolean(),
  secrets: z.array(z.object({ sealed: z.string(), expiresAt: z.coerce.date().nullable() })),
});

const BY_TOKEN = defineQuery("find-trigger", triggerRow, `${SELECT} t.token_hash = $2`);
const BY_ID = defineQuery("find-trigger-by-id", triggerRow, `${SELECT} t.id = $2 AND t.organization_id = $3`);

/** The trigger of a URL's token; null if there is none. Cached until it changes. Addresses are looked up in turn. */
export async function findTrigger(
  services: Services,
  token: string,
  address: string,
): Promise<Trigger | null> {
  const hash = sha256(token);
  const found = await services.cached.triggers.get(hash.toString("base64"), async () => {
    const [row] = await BY_TOKEN(lookupsOf(services.pool)(address), [services.clock.now(), hash]);
    return row === undefined ? null : { orgId: row.orgId, value: toTrigger(services, row) };
  });
  return found && withLiveSecrets(found, services.clock.now());
}

// An overlap may have ended since the trigger was read.
function withLiveSecrets(trigger: Trigger, now: Date): Trigger {
  if (!trigger.secrets?.some(({ expiresAt }) => expiresAt !== null && expiresAt <= now)) return trigger;
  return {
    ...trigger,
    secrets: trigger.secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now),
  };
}

/** A trigger of the organization by its id; null if there is none. One statement. */
export async function findTriggerById(services: Services, orgId: OrgId, id: string): Promise<Trigger | null> {
  const [row] = await BY_ID(services.pool, [services.clock.now(), id, orgId]);
  return row === undefined ? null : toTrigger(services, row);
}

function toTrigger(services: Pick<Services, "encryption">, found: z.infer<typeof triggerRow>): Trigger {
  const { id, orgId, name, kind, targetId, maxCredits, disabled, inactive, targetGone, ...rest } = found;
  const { signature, ...trigger } = rest;
  let misconfigured: string | null = null;
  if (disabled) misconfigured = "The trigger is disabled.";
  else if (targetGone) misconfigured = `The trigger's ${kind} no longer exists.`;
  else if (inactive) misconfigured = "The trigger's agent is inactive.";
  return {
    ...trigger,
    actor: { kind: "trigger", orgId, triggerId: id, name, maxCredits },
    target: { kind, id: targetId },
    sender: senderOf(signature),
    misconfigured,
    secrets: openSecrets(services, id, trigger.secrets),
  };
}

/** A secret that does not open must not turn the trigger into one without a secret. */
function openSecrets(
  { encryption }: Pick<Services, "encryption">,
  triggerId: string,
  sealed: z.infer<typeof triggerRow>["secrets"],
): Trigger["secrets"] {
  try {
    return sealed.map((secret) => ({
      value: encryption.open(secret.sealed, signingSecretPurpose(triggerId)),
      expiresAt: secret.expiresAt,
    }));
  } catch (error) {
    if (error instanceof EncryptionError) return null;
    throw error;
  }
}
