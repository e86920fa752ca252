import { z } from "zod";
import type { OrgId, TriggerActor } from "@/server/auth/actor";
import { mintOrgId } from "@/server/auth/mint-org-id";
import { Decimal } from "@/server/credits/amount";
import { VaultError } from "@/server/secrets/vault";
import type { Services } from "@/server/services";
import { hashToken, secretPurpose } from "./token";

/** A trigger as the door needs it. */
export type Trigger = {
  actor: TriggerActor;
  target: { kind: "agent" | "tool"; id: string };
  /** What keeps the trigger from starting anything, in words for the sender; null when nothing does. */
  misconfigured: string | null;
  suspended: boolean;
  scheme: "hex" | "standard_webhooks";
  /** Live secrets, newest first; empty: calls are not signed. Null: they cannot be read, so that no call can be verified. */
  secrets: string[] | null;
  rateLimit: { requests: number; seconds: number };
  messageTemplate: string | null;
};

const SELECT = `
  SELECT t.id, t.organization_id, t.name, t.agent_id, t.tool_id, t.signature_scheme, t.rate_limit_requests,
         t.rate_limit_seconds, t.message_template, t.max_credits, t.disabled_at IS NOT NULL AS disabled,
         o.suspended_at IS NOT NULL AS suspended, a.status AS agent_status,
         coalesce(a.deleted_at, l.deleted_at) IS NOT NULL AS target_gone,
         (SELECT coalesce(array_agg(s.sealed ORDER BY s.created_at DESC), '{}') FROM trigger_secrets s
          WHERE s.trigger_id = t.id AND (s.expires_at IS NULL OR s.expires_at > $1)) AS secrets
  FROM triggers t
  JOIN organizations o ON o.id = t.organization_id
  LEFT JOIN agents a ON a.id = t.agent_id
  LEFT JOIN tools l ON l.id = t.tool_id
  WHERE t.deleted_at IS NULL AND`;
const BY_TOKEN = { name: "find-trigger", text: `${SELECT} t.token_hash = $2` };
const BY_ID = { name: "find-trigger-by-id", text: `${SELECT} t.id = $2 AND t.organization_id = $3` };

const row = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  agent_id: z.string().nullable(),
  tool_id: z.string().nullable(),
  signature_scheme: z.enum(["hex", "standard_webhooks"]),
  rate_limit_requests: z.number(),
  rate_limit_seconds: z.number(),
  message_template: z.string().nullable(),
  max_credits: z.string().nullable(),
  disabled: z.boolean(),
  suspended: z.boolean(),
  agent_status: z.enum(["active", "inactive"]).nullable(),
  target_gone: z.boolean(),
  secrets: z.array(z.string()),
});

/** The trigger that a URL's token names; null when there is none. One statement. */
export async function findTrigger(services: Services, token: string): Promise<Trigger | null> {
  const { rows } = await services.pool.query({
    ...BY_TOKEN,
    values: [services.clock.now(), hashToken(token)],
  });
  return rows.length === 0 ? null : toTrigger(services, row.parse(rows[0]));
}

/** A trigger of the organization by its id; null when there is none. One statement. */
export async function findTriggerById(services: Services, orgId: OrgId, id: string): Promise<Trigger | null> {
  const { rows } = await services.pool.query({ ...BY_ID, values: [services.clock.now(), id, orgId] });
  return rows.length === 0 ? null : toTrigger(services, row.parse(rows[0]));
}

function toTrigger(services: Services, found: z.infer<typeof row>): Trigger {
  const kind = found.agent_id === null ? "tool" : "agent";
  return {
    actor: {
      kind: "trigger",
      orgId: mintOrgId(found.organization_id),
      triggerId: found.id,
      name: found.name,
      maxCredits: found.max_credits === null ? null : new Decimal(found.max_credits),
    },
    target: { kind, id: found.agent_id ?? found.tool_id ?? "" },
    misconfigured: found.disabled
      ? "The trigger is disabled."
      : found.target_gone
        ? `The trigger's ${kind} no longer exists.`
        : found.agent_status === "inactive"
          ? "The trigger's agent is inactive."
          : null,
    suspended: found.suspended,
    scheme: found.signature_scheme,
    secrets: openSecrets(services, found.id, found.secrets),
    rateLimit: { requests: found.rate_limit_requests, seconds: found.rate_limit_seconds },
    messageTemplate: found.message_template,
  };
}

/** A secret that does not open must not make the trigger one without a secret. */
function openSecrets({ vault }: Services, triggerId: string, sealed: string[]): string[] | null {
  try {
    return sealed.map((secret) => vault.open(secret, secretPurpose(triggerId)));
  } catch (error) {
    if (error instanceof VaultError) return null;
    throw error;
  }
}
