import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { type OwnProvider, ownProviders } from "@/server/work/models/own-provider";

const FIND = defineQuery(
  "find-model-providers",
  z.object({ modelProviders: z.string().nullable() }),
  `SELECT model_providers AS "modelProviders" FROM organizations WHERE id = $1`,
);

/** The organization's own model providers. Cached until they change. */
export async function findModelProviders(
  { cached, pool }: Pick<Services, "cached" | "pool">,
  orgId: OrgId,
): Promise<readonly OwnProvider[]> {
  const found = await cached.modelProviders.get(orgId, async () => {
    const [row] = await FIND(pool, [orgId]);
    return { orgId, value: parseModelProviders(row?.modelProviders ?? null) };
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
