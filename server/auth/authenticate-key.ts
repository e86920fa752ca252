import { z } from "zod";
import { Decimal } from "@/server/credits/amount";
import { AppError } from "@/server/errors";
import type { Services } from "@/server/services";
import type { ApiKeyActor, AuthenticatedKey } from "./actor";
import { hashApiKey } from "./api-key";
import { mintOrgId } from "./mint-org-id";

/** How often a key's last use is stored. */
const LAST_USED_EVERY_MS = 60_000;

const FIND = {
  name: "find-api-key",
  text: `
  SELECT k.id, k.organization_id, k.name, k.scopes, k.target_ids, k.max_credits, k.last_used_at, k.expires_at, k.revoked_at,
         least(k.starts_per_minute, p.starts_per_minute) AS starts_per_minute,
         least(k.reads_per_minute, p.reads_per_minute) AS reads_per_minute,
         p.api_access, o.suspended_at IS NOT NULL AS suspended
  FROM api_keys k
  JOIN organizations o ON o.id = k.organization_id
  JOIN plans p ON p.organization_id = k.organization_id
  WHERE k.hash = $1`,
};

const keyRow = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  target_ids: z.array(z.string()),
  max_credits: z.string().nullable(),
  last_used_at: z.date().nullable(),
  expires_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
  starts_per_minute: z.number().nullable(),
  reads_per_minute: z.number().nullable(),
  api_access: z.boolean(),
  suspended: z.boolean(),
});

/**
 * The actor of an `X-API-Key` header. The lookup uses the key's SHA-256, so that its timing leaks nothing. The result
 * is cached until the key or its plan changes. Throws `unauthenticated`.
 */
export async function authenticateKey(services: Services, key: string | null): Promise<ApiKeyActor> {
  if (key === null) throw new AppError("unauthenticated", "The header X-API-Key is missing.");
  const known = peekKey(services, key);
  if (known) return known;
  const hash = hashApiKey(key);
  if (hash === null) throw new AppError("unauthenticated", "The API key is not valid.");
  const found = await services.cached.apiKeys.get(key, async () => {
    const { rows } = await services.pool.query({ ...FIND, values: [hash] });
    if (rows.length === 0) return null;
    const value = readKey(rows[0]);
    return { orgId: value.actor.orgId, value };
  });
  if (found === null) throw new AppError("unauthenticated", "The API key is not valid.");
  return use(services, found);
}

/** The actor of a cached, usable key; undefined if the database must be asked. */
export function peekKey(services: Services, key: string): ApiKeyActor | undefined {
  const found = services.cached.apiKeys.peek(key);
  return found && isUsable(found, services.clock.now()) ? use(services, found) : undefined;
}

function isUsable({ revokedAt, expiresAt }: AuthenticatedKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

function use(services: Services, found: AuthenticatedKey): ApiKeyActor {
  const now = services.clock.now();
  const { actor } = found;
  if (!isUsable(found, now)) {
    const what = found.revokedAt === null ? "has expired" : "was revoked";
    throw new AppError(
      "unauthenticated",
      `The API key ${actor.name} ${what}. Create a new one under API keys.`,
    );
  }
  if (now.getTime() - found.lastUsedAt > LAST_USED_EVERY_MS) {
    found.lastUsedAt = now.getTime();
    // Not awaited: a lost update of the last use is harmless.
    services.pool
      .query("UPDATE api_keys SET last_used_at = $2 WHERE id = $1", [actor.apiKeyId, now])
      .catch((error: unknown) => services.log.warn("Could not record the last use of an API key", { error }));
  }
  return actor;
}

function readKey(found: unknown): AuthenticatedKey {
  const row = keyRow.parse(found);
  return {
    actor: {
      kind: "api_key",
      orgId: mintOrgId(row.organization_id),
      apiKeyId: row.id,
      name: row.name,
      scopes: row.scopes,
      targetIds: row.target_ids,
      maxCredits: row.max_credits === null ? null : new Decimal(row.max_credits),
      suspended: row.suspended,
      plan: {
        apiAccess: row.api_access,
        startsPerMinute: row.starts_per_minute,
        readsPerMinute: row.reads_per_minute,
      },
    },
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at?.getTime() ?? 0,
  };
}
