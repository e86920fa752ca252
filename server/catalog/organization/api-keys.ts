import { z } from "zod";
import { actorReference } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { recordAudit } from "@/server/base/audit";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { rejection } from "@/server/base/issues";
import { newApiKey } from "@/server/catalog/auth/api-key";
import { idInput } from "@/server/contract/ids";
import { type Change, catalogVerb, type Saved, saveItem } from "../change";
import { type ApiKeyDefinition, apiKeyDefinition } from "../definitions";
import { resolveTargets } from "../resolve-slugs";

/** `key` is set only for a new key, and shown once. */
type SavedApiKey = { id: string; name: string; prefix: string; saved: Saved; key?: string };

/** Creates an API key. Its name must differ from other usable keys. */
export const createApiKey = catalogVerb(
  { role: "admin", input: apiKeyDefinition },
  async (change, definition) => {
    const { key, ...saved } = await putApiKey(change, definition);
    if (key === undefined) {
      const message = `is taken: a key "${definition.name}" exists; revoke it first or choose another name`;
      throw rejection([{ path: "/name", message }]);
    }
    return { ...saved, key };
  },
);

const AUDITED = {
  id: true,
  name: true,
  prefix: true,
  scopes: true,
  targetIds: true,
  expiresAt: true,
  startsPerMinute: true,
  readsPerMinute: true,
  maxCredits: true,
} as const;

/**
 * Creates the organization's key of that name, or updates the usable one (its secret stays). A revoked key is never
 * reactivated.
 */
export async function putApiKey(change: Change, definition: ApiKeyDefinition): Promise<SavedApiKey> {
  const { tx, actor, at } = change;
  const { name, scopes, agents, tools, startsPerMinute, readsPerMinute } = definition;
  const { ids: targetIds, issues } = await resolveTargets(change, [
    ...agents.map((slug, index) => ({ kind: "agent" as const, slug, path: `/agents/${index}` })),
    ...tools.map((slug, index) => ({ kind: "tool" as const, slug, path: `/tools/${index}` })),
  ]);
  if (issues.length > 0) throw rejection(issues);
  const found = await tx.apiKey.findFirst({
    where: { organizationId: actor.orgId, name, revokedAt: null },
    orderBy: { id: "desc" },
    select: AUDITED,
  });
  const expiresAt = definition.expiresAt === null ? null : new Date(definition.expiresAt);
  const maxCredits = definition.maxCredits === null ? null : new Decimal(definition.maxCredits);
  if (!found && expiresAt !== null && expiresAt <= at) {
    throw rejection([{ path: "/expiresAt", message: "is in the past" }]);
  }
  const row = { name, scopes, startsPerMinute, readsPerMinute, targetIds, expiresAt, maxCredits };
  const { id, ...before } = found ?? { id: newId() };
  const made = newApiKey();
  const { prefix } = found ?? made;
  const subject = { kind: "api_key" as const, id, name };
  const compared = { subject, before: found && before, after: { ...row, prefix } };
  const saved = await saveItem(change, compared, () => {
    if (found) return tx.apiKey.update({ where: { id }, data: row });
    const hash = Uint8Array.from(made.hash);
    const origin = { organizationId: actor.orgId, createdBy: actorReference(actor), createdAt: at };
    return tx.apiKey.create({ data: { ...row, ...origin, id, prefix, hash } });
  });
  return { id, name, prefix, saved, ...(found ? {} : { key: made.key }) };
}

/** Revokes a key permanently; repeating it changes nothing. Throws `not_found`. */
export const revokeApiKey = catalogVerb(
  { role: "admin", input: z.object({ id: idInput() }) },
  async (change, { id }) => {
    const { tx, at, actor } = change;
    const found = await tx.apiKey.findFirst({ where: { id, organizationId: actor.orgId } });
    if (!found) throw new AppError("not_found", "API key not found.");
    const { name, prefix, revokedAt } = found;
    if (revokedAt === null) {
      await tx.apiKey.update({ where: { id }, data: { revokedAt: at } });
      const subject = { kind: "api_key" as const, id, name };
      await recordAudit(change, { verb: "revoked", subject, changes: { prefix } });
    }
    return { id, name, prefix };
  },
);
