import type { MemberActor } from "@/server/auth/actor";
import type { Services } from "@/server/services";
import type { RunFilter } from "./filter";
import { findRunIds } from "./find";

/**
 * The runs on both sides of one in the list that a filter makes: the next newer and the next older, null at the list's
 * ends. The one in the middle need not be in the list any more.
 */
export async function findNeighbours(
  services: Services,
  { orgId }: MemberActor,
  { runId, filter }: { runId: string; filter: RunFilter },
): Promise<{ newer: string | null; older: string | null }> {
  const [[newer], [older]] = await Promise.all([
    findRunIds(services, orgId, filter, { after: runId, limit: 1, oldestFirst: true }),
    findRunIds(services, orgId, filter, { before: runId, limit: 1 }),
  ]);
  return { newer: newer ?? null, older: older ?? null };
}
