import type { MemberActor } from "@/server/auth/actor";
import type { Services } from "@/server/services";
import type { RunFilter } from "./filter";
import { findRunIds } from "./find";

/**
 * The adjacent runs in a filtered list: the next newer and the next older, null at its ends. The run itself need not
 * match any more.
 */
export async function findNeighbours(
  services: Services,
  { orgId }: MemberActor,
  { runId, filter }: { runId: string; filter: RunFilter },
): Promise<{ newer: string | null; older: string | null }> {
  const [[newer], [older]] = await Promise.all([
    findRunIds(services, orgId, { filter, page: { after: runId, limit: 1, oldestFirst: true } }),
    findRunIds(services, orgId, { filter, page: { before: runId, limit: 1 } }),
  ]);
  return { newer: newer ?? null, older: older ?? null };
}
