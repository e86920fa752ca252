import { actorReference } from "@/server/auth/actor";
import { newApiKey } from "@/server/auth/api-key";
import { Decimal } from "@/server/credits/amount";
import { AppError, type Issue } from "@/server/errors";
import { newId } from "@/server/ids";
import { recordAudit } from "@/server/operate/audit";
import {
  auditSave,
  type CatalogServices,
  type Change,
  changeCatalog,
  compareSaved,
  type Editor,
  type Saved,
} from "../change";
import { type ApiKeyDefinition, type ApiKeyInput, apiKeyDefinition } from "../definitions";
import { parseInput, refusal } from "../issues";
import { resolveSlugs } from "../resolve-slugs";

/** `key` is set only for a new key, and shown once. */
export type SavedApiKey = { id: string; name: string; prefix: string; saved: Saved; key?: string };

/** Creates an API key. Its name must differ from other usable keys. Needs the role admin. */
export async function createApiKey(
  services: CatalogServices,
  actor: Editor,
  input: ApiKeyInput,
): Promise<SavedApiKey & { key: string }> {
  const definition = parseInput(apiKeyDefinition, input);
  return changeCatalog(services, { actor, role: "admin" }, async (change) => {
    const saved = await putApiKey(change, definition);
    const { key } = saved;
    if (key === undefined) {
      const message = `is taken: a key "${definition.name}" exists; revoke it first or choose another name`;
      throw refusal([{ path: "/name", message }]);
    }
    return { ...saved, key };
  });
}

/**
 * Creates the organization's key of that name, or updates the usable one (its secret stays). A revoked key is never
 * reactivated: its name gets a new one.
 */
export async function putApiKey(change: Change, definition: ApiKeyDefinition): Promise<SavedApiKey> {
  const { tx, actor, at } = change;
  const { name, scopes, startsPerMinute, readsPerMinute } = definition;
  const targetIds = await findTargets(change, definition);
  const found = await tx.apiKey.findFirst({
    where: { organizationId: actor.orgId, name, revokedAt: null },
    orderBy: { id: "desc" },
  });
  const expiresAt = definition.expiresAt === null ? null : new Date(definition.expiresAt);
  const maxCredits = definition.maxCredits === null ? null : new Decimal(definition.maxCredits);
  const limits = { scopes, startsPerMinute, readsPerMinute };
  const after = {
    ...limits,
    name,
    expiresAt: expiresAt?.toISOString() ?? null,
    maxCredits: maxCredits?.toFixed() ?? null,
    targetIds,
  };
  const before = found && {
    name: found.name,
    scopes: found.scopes,
    startsPerMinute: found.startsPerMinute,
    readsPerMinute: found.readsPerMinute,
    expiresAt: found.expiresAt?.toISOString() ?? null,
    maxCredits: found.maxCredits?.toFixed() ?? null,
    targetIds: found.targetIds,
  };
  const { saved } = compareSaved(found && { deletedAt: null }, before, after);

  if (!found) {
    if (expiresAt !== null && expiresAt <= at) {
      throw refusal([{ path: "/expiresAt", message: "is in the past" }]);
    }
    const { key, prefix, hash } = newApiKey();
    const id = newId();
    await tx.apiKey.create({
      data: {
        ...limits,
        id,
        organizationId: actor.orgId,
        name,
        prefix,
        hash: Uint8Array.from(hash),
        targetIds,
        expiresAt,
        maxCredits,
        createdBy: actorReference(actor),
        createdAt: at,
      },
    });
    await auditSave(change, {
      saved: "created",
      subject: { kind: "api_key", id, name },
      before: null,
      after: { ...after, prefix },
    });
    return { id, name, prefix, saved: "created", key };
  }
  const { id, prefix } = found;
  if (saved !== "unchanged") {
    await tx.apiKey.update({ where: { id }, data: { ...limits, targetIds, expiresAt, maxCredits } });
    await auditSave(change, { saved, subject: { kind: "api_key", id, name }, before, after });
  }
  return { id, name, prefix, saved };
}

/** Revokes a key for good; repeating it changes nothing. Needs the role admin. Throws `not_found`. */
export async function revokeApiKey(
  services: CatalogServices,
  actor: Editor,
  { id }: { id: string },
): Promise<{ id: string; name: string; prefix: string }> {
  return changeCatalog(services, { actor, role: "admin" }, async (change) => {
    const { tx, at } = change;
    const found = await tx.apiKey.findFirst({ where: { id, organizationId: actor.orgId } });
    if (!found) throw new AppError("not_found", "API key not found.");
    const { name, prefix, revokedAt } = found;
    if (revokedAt === null) {
      await tx.apiKey.update({ where: { id }, data: { revokedAt: at } });
      await recordAudit(change, {
        verb: "revoked",
        subject: { kind: "api_key", id, name },
        changes: { prefix },
      });
    }
    return { id, name, prefix };
  });
}

async function findTargets(change: Change, definition: ApiKeyDefinition): Promise<string[]> {
  const issues: Issue[] = [];
  const targetIds: string[] = [];
  for (const [field, kind] of [
    ["agents", "agent"],
    ["tools", "tool"],
  ] as const) {
    const { ids, faults } = await resolveSlugs(change, kind, definition[field]);
    targetIds.push(...definition[field].flatMap((slug) => ids.get(slug) ?? []));
    for (const [index, slug] of definition[field].entries()) {
      const message = faults.get(slug);
      if (message !== undefined) issues.push({ path: `/${field}/${index}`, message });
    }
  }
  if (issues.length > 0) throw refusal(issues);
  return targetIds;
}
