import { z } from "zod";
import { type ApiKeyActor, type AuthenticatedKey, LAST_USED_EVERY_MS } from "@/server/base/actor";
import { decimalText } from "@/server/base/amount";
import { lookupsOf } from "@/server/base/db/limited-statements";
import { defineCommand, defineQuery } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { mintOrgId } from "@/server/base/mint-org-id";
import type { Services } from "@/server/catalog/services";
import { hashApiKey } from "./api-key";

const keyRow = z.object({
  id: z.string(),
  orgId: z.string().transform(mintOrgId),
  name: z.string(),
  scopes: z.array(z.string()),
  targetIds: z.array(z.string()),
  maxCredits: decimalText.nullable(),
  lastUsedAt: z.date().nullable(),
  expiresAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
  plan: z.object({
    apiAccess: z.boolean(),
    startsPerMinute: z.number().nullable(),
    readsPerMinute: z.number().nullable(),
  }),
  suspended: z.boolean(),
});

const FIND = defineQuery(
  "find-api-key",
  keyRow,
  `SELECT k.id, k.organization_id AS "orgId", k.name, k.scopes, k.target_ids AS "targetIds", k.max_credits AS "maxCredits",
         k.last_used_at AS "lastUsedAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
         json_build_object('apiAccess', p.api_access,
                           'startsPerMinute', least(k.starts_per_minute, p.starts_per_minute),
                           'readsPerMinute', least(k.reads_per_minute, p.reads_per_minute)) AS plan,
         o.suspended_at IS NOT NULL AS suspended
  FROM api_keys k
  JOIN organizations o ON o.id = k.organization_id
  JOIN plans p ON p.organization_id = k.organization_id
  WHERE k.hash = $1`,
);
const RECORD_USE = defineCommand("record-api-key-use", "UPDATE api_keys SET last_used_at = $2 WHERE id = $1");

/**
 * Authenticates an `X-API-Key` header, with a cache until the key or its plan changes. Addresses are looked up in turn.
 * Throws `unauthenticated`.
 */
export async function authenticateKey(
  services: Services,
  key: string | null,
  address = () => "",
): Promise<ApiKeyActor> {
  if (key === null) throw new AppError("unauthenticated", "The header X-API-Key is missing.");
  const known = peekKey(services, key);
  if (known) return known;
  const hash = hashApiKey(key);
  if (hash === null) throw new AppError("unauthenticated", "The API key is not valid.");
  const found = await services.cached.apiKeys.get(key, async () => {
    const [row] = await FIND(lookupsOf(services.pool)(address()), [hash]);
    if (row === undefined) return null;
    return { orgId: row.orgId, value: readKey(row) };
  });
  if (found === null) throw new AppError("unauthenticated", "The API key is not valid.");
  return acceptKey(services, found);
}

/** The actor of a cached, usable key; undefined if the database must be asked. */
export function peekKey(services: Services, key: string): ApiKeyActor | undefined {
  const found = services.cached.apiKeys.peek(key);
  return found && isUsable(found, services.clock.now()) ? acceptKey(services, found) : undefined;
}

function isUsable({ revokedAt, expiresAt }: AuthenticatedKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

function acceptKey(services: Services, found: AuthenticatedKey): ApiKeyActor {
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
    RECORD_USE(services.pool, [actor.apiKeyId, now]).catch((error: unknown) =>
      services.log.warn("Could not record the last use of an API key", { error }),
    );
  }
  return actor;
}

function readKey({ id, expiresAt, revokedAt, lastUsedAt, ...key }: z.infer<typeof keyRow>): AuthenticatedKey {
  return {
    actor: { kind: "api_key", apiKeyId: id, ...key },
    expiresAt,
    revokedAt,
    lastUsedAt: lastUsedAt?.getTime() ?? 0,
  };
}
