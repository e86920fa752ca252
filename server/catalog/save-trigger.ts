import { Decimal } from "@/server/base/amount";
import type { Facts } from "@/server/base/audit";
import type { Trigger, TriggerSecret } from "@/server/base/db/generated/client";
import type { Issue } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { rejection } from "@/server/base/issues";
import { sha256 } from "@/server/base/sha256";
import { describeFilterIssue } from "@/server/catalog/webhooks/filter";
import { describeTemplateIssue } from "@/server/catalog/webhooks/message-template";
import {
  type SignatureDefinition,
  senderOf,
  storedSignature,
} from "@/server/catalog/webhooks/senders/signature-definition";
import { newTriggerToken, signingSecretPurpose, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import {
  type Author,
  type Change,
  checkExpectation,
  type Expectation,
  type Saved,
  saveItem,
  savingVerb,
  statusToSave,
} from "./change";
import { type TriggerDefinition, triggerDefinition } from "./definitions";
import { resolveTarget } from "./resolve-slugs";

/** `token` is the secret part of the trigger's URL; members may see it. */
type SavedTrigger = { id: string; slug: string; token: string; saved: Saved };

// Standard Webhooks 1.0: base64, with or without `whsec_`.
const MIN_STANDARD_BYTES = 16;
const STANDARD_SECRET = /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/;

/**
 * Creates or updates the organization's trigger of that slug. A different secret replaces all earlier ones
 * immediately (`rotateTriggerSecret` gives them an overlap); an omitted one is not changed.
 */
export const saveTrigger = savingVerb(triggerDefinition, putTrigger);

/** `saveTrigger` within a change, for a parsed definition. */
export async function putTrigger(
  change: Change<Author>,
  definition: TriggerDefinition,
  { replaces, ...expected }: Expectation = {},
): Promise<SavedTrigger> {
  const { tx, actor, encryption, at } = change;
  const { slug, signature, rateLimit, messageTemplate, filter } = definition;
  const found = await tx.trigger.findUnique({
    where: { organizationId_slug: { organizationId: actor.orgId, slug } },
    include: { secrets: { orderBy: { createdAt: "desc" } } },
  });
  checkExpectation("trigger", found, { slug, ...expected });
  const stored = found ? statusOf(found) : undefined;
  const status = statusToSave(definition.status, { stored, opened: replaces?.status });
  const { agent = null, tool = null } = definition;
  const target = await resolveTarget(change, { agent, tool }, found);
  const issues = [
    ...target.issues,
    ...(await findTextIssues(definition, actor.orgId)),
    ...findStoredSecretIssues(change, found, definition),
  ];
  if (issues.length > 0) throw rejection(issues);

  const id = found?.id ?? newId();
  const isPresent = found?.deletedAt === null;
  // Null if it was sealed under an earlier STEPWELL_SECRET that was given up (`service-secret adopt`).
  const token =
    (isPresent ? encryption.openOrNull(found.tokenSealed, tokenPurpose(id)) : null) ?? newTriggerToken();
  const secret = planSecret(change, found, definition.secret);

  const name = definition.name ?? slug;
  const maxCredits = definition.maxCredits === null ? null : new Decimal(definition.maxCredits);
  const after = {
    name,
    agent,
    tool,
    status,
    signature,
    rateLimit,
    messageTemplate,
    filter,
    maxCredits: maxCredits?.toFixed() ?? null,
    secret: secret.after,
    address: isPresent && sha256(token).equals(found.tokenHash) ? "kept" : "a new one",
  };
  const slugs = {
    agent: await findSlug(tx.agent, found?.agentId),
    tool: await findSlug(tx.tool, found?.toolId),
  };
  const before = found && { ...triggerFacts(found, slugs), secret: secret.before, address: "kept" };
  const subject = { kind: "trigger" as const, id, name };
  const compared = { subject, before, after, restores: found?.deletedAt != null, replaces };
  const saved = await saveItem(change, compared, async () => {
    const data = {
      name,
      agentId: agent === null ? null : target.id,
      toolId: tool === null ? null : target.id,
      tokenHash: sha256(token),
      tokenSealed: encryption.seal(token, tokenPurpose(id)),
      signature: JSON.stringify(signature),
      rateLimitRequests: rateLimit.requests,
      rateLimitSeconds: rateLimit.seconds,
      messageTemplate,
      filter,
      maxCredits,
      disabledAt: status === "active" ? null : (found?.disabledAt ?? at),
      updatedAt: at,
      deletedAt: null,
    } as const;
    await tx.trigger.upsert({
      where: { id },
      update: data,
      create: { ...data, id, organizationId: actor.orgId, slug, createdAt: at },
    });
    if (secret.replacement !== undefined) {
      await tx.triggerSecret.deleteMany({ where: { triggerId: id } });
      if (secret.replacement !== null) await addSigningSecret(change, id, secret.replacement);
    }
  });
  return { id, slug, token, saved };
}

/** `before` and `after` are words for the audit log. */
type SecretPlan = {
  before: "set" | "none";
  after: "set" | "none" | "a new one";
  /** Replaces all stored secrets; null: there is none from then on; undefined: they stay. */
  replacement: string | null | undefined;
};

/** `given` undefined: a present trigger keeps its secrets, any other gets none. */
function planSecret(
  { encryption, at }: Change<Author>,
  found: (Trigger & { secrets: TriggerSecret[] }) | null,
  given: string | null | undefined,
): SecretPlan {
  const valid = (found?.secrets ?? []).filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
  const before = valid.length > 0 ? "set" : "none";
  const unchanged = { before, after: before, replacement: undefined } as const;
  const isPresent = found?.deletedAt === null;
  if (given === undefined && isPresent) return unchanged;
  if (given === undefined || given === null)
    return before === "set" ? { before, after: "none", replacement: null } : unchanged;
  const current = valid.find(({ expiresAt }) => expiresAt === null);
  const value = current && encryption.openOrNull(current.sealed, signingSecretPurpose(current.triggerId));
  return value === given ? unchanged : { before, after: "a new one", replacement: given };
}

const statusOf = ({ disabledAt }: Trigger) => (disabledAt === null ? "active" : "inactive");

/** The facts that a trigger's form shows. `agent` and `tool` are slugs. */
export function triggerFacts(found: Trigger, target: { agent: string | null; tool: string | null }): Facts {
  return {
    name: found.name,
    ...target,
    status: statusOf(found),
    signature: storedSignature.parse(found.signature),
    rateLimit: { requests: found.rateLimitRequests, seconds: found.rateLimitSeconds },
    messageTemplate: found.messageTemplate,
    filter: found.filter,
    maxCredits: found.maxCredits?.toFixed() ?? null,
  };
}

export async function addSigningSecret(
  { tx, encryption, at }: Change<Author>,
  triggerId: string,
  secret: string,
): Promise<void> {
  const sealed = encryption.seal(secret, signingSecretPurpose(triggerId));
  await tx.triggerSecret.create({ data: { id: newId(), triggerId, sealed, createdAt: at } });
}

/** The reason why a text cannot be the secret of that signature; null if it can. */
export function describeSigningSecretIssue(signature: SignatureDefinition, secret: string): string | null {
  const { rule, title } = senderOf(signature);
  if (rule.kind !== "hmac" || rule.key !== "base64") return null;
  if (!STANDARD_SECRET.test(secret)) {
    return `must be base64, with or without whsec_, for ${title}`;
  }
  const bytes = Buffer.from(secret.replace(/^whsec_/, ""), "base64").length;
  if (bytes >= MIN_STANDARD_BYTES) return null;
  return `must be base64 of at least ${MIN_STANDARD_BYTES} bytes for ${title}`;
}

async function findTextIssues(
  { signature, secret, messageTemplate, filter }: TriggerDefinition,
  organizationId: string,
): Promise<Issue[]> {
  const issues = {
    secret: typeof secret === "string" ? describeSigningSecretIssue(signature, secret) : null,
    messageTemplate:
      messageTemplate === null ? null : await describeTemplateIssue(messageTemplate, organizationId),
    filter: filter === null ? null : await describeFilterIssue(filter, organizationId),
  };
  return Object.entries(issues).flatMap(([field, message]) =>
    message === null ? [] : [{ path: `/${field}`, message }],
  );
}

// A secret that stays must fit the signature, too: another one reads it in another way.
function findStoredSecretIssues(
  { encryption }: Change<Author>,
  found: (Trigger & { secrets: TriggerSecret[] }) | null,
  { signature, secret }: TriggerDefinition,
): Issue[] {
  if (found?.deletedAt !== null || secret !== undefined) return [];
  const stored = found.secrets.find(({ expiresAt }) => expiresAt === null);
  const value = stored && encryption.openOrNull(stored.sealed, signingSecretPurpose(found.id));
  const message = value ? describeSigningSecretIssue(signature, value) : null;
  return message === null ? [] : [{ path: "/secret", message: `${message}; the stored secret does not fit` }];
}

type Slugs = {
  findUnique(query: { where: { id: string }; select: { slug: true } }): Promise<{ slug: string } | null>;
};

// Prisma would load several relations in parallel on the transaction's one connection.
async function findSlug(table: Slugs, id: string | null | undefined): Promise<string | null> {
  if (id == null) return null;
  const found = await table.findUnique({ where: { id }, select: { slug: true } });
  return found?.slug ?? null;
}
