import type { OrgId } from "@/server/base/actor";
import { perOwner } from "@/server/base/per-owner";
import { FairQueue } from "@/server/base/scheduling/fair-queue";

// Fewer than the process has database connections, so that slow searches leave some for others and the API.
const DASHBOARD_CALLS = { process: 12, organization: 6 };

declare global {
  var stepwellDashboardQueue: ((process: object) => FairQueue) | undefined;
}

// On globalThis, because Next may bundle a copy of this module with each route.
globalThis.stepwellDashboardQueue ??= perOwner(
  () => new FairQueue(DASHBOARD_CALLS.process, DASHBOARD_CALLS.organization),
);
const queueOf = globalThis.stepwellDashboardQueue;

/**
 * Executes a dashboard call, or a list by API key, when it is its organization's turn. Work must not queue further calls. Throws what the
 * work throws, or the signal's reason if the caller left while waiting.
 */
export function queueDashboardCall<Result>(
  services: { pool: object },
  orgId: OrgId,
  { work, signal }: { work: () => Promise<Result>; signal?: AbortSignal | undefined },
): Promise<Result> {
  return queueOf(services.pool).take(orgId, work, signal);
}
