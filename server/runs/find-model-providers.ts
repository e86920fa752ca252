import type { OrgId } from "@/server/auth/actor";
import { type OwnProvider, ownProviders } from "@/server/models/own-provider";
import type { Services } from "@/server/services";

/** The organization's own model providers. Cached until they change. */
export async function findModelProviders(
  { cached, pool }: Pick<Services, "cached" | "pool">,
  orgId: OrgId,
): Promise<readonly OwnProvider[]> {
  const found = await cached.modelProviders.get(orgId, async () => {
    const { rows } = await pool.query<{ modelProviders: string | null }>({
      name: "find-model-providers",
      text: `SELECT model_providers AS "modelProviders" FROM organizations WHERE id = $1`,
      values: [orgId],
    });
    return { orgId, value: parseModelProviders(rows[0]?.modelProviders ?? null) };
  });
  return found ?? [];
}

/** Model providers as they are stored: JSON, null if there are none. */
export function parseModelProviders(stored: string | null): OwnProvider[] {
  return stored === null ? [] : ownProviders.parse(JSON.parse(stored));
}

export function stringifyModelProviders(providers: readonly OwnProvider[]): string | null {
  return providers.length === 0 ? null : JSON.stringify(providers);
}
