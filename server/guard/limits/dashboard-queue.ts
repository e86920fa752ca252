import type { OrgId } from "@/server/base/actor";
import { FairQueue } from "@/server/base/fair-queue";
import { perOwner } from "@/server/base/per-owner";

/**
 * The dashboard calls that one process executes at once. Fewer than its database connections, so that an organization's
 * slow searches leave some to others and to the API.
 */
const DASHBOARD_CALLS = { process: 12, organization: 6 };

declare global {
  var stepwellDashboardQueue: ((process: object) => FairQueue) | undefined;
}

/** Kept on globalThis: Next may bundle a copy of this module with each route. A process is identified by its pool. */
globalThis.stepwellDashboardQueue ??= perOwner(
  () => new FairQueue(DASHBOARD_CALLS.process, DASHBOARD_CALLS.organization),
);
const queueOf = globalThis.stepwellDashboardQueue;

/**
 * Executes a dashboard call when it is its organization's turn. Throws what the work throws, or the signal's reason if
 * the caller left while it waited. Work must not queue further calls.
 */
export function queueDashboardCall<Result>(
  services: { pool: object },
  orgId: OrgId,
  { work, signal }: { work: () => Promise<Result>; signal?: AbortSignal | undefined },
): Promise<Result> {
  return queueOf(services.pool).take(orgId, work, signal);
}
