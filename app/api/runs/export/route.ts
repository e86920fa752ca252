import { readFilter } from "@/app/(dashboard)/runs/address";
import { memberRoute, privateResponse } from "@/app/api/handlers";
import { AppError } from "@/server/base/errors";
import { isStillMember } from "@/server/catalog/auth/sessions";
import { JSON_TYPE } from "@/server/contract/media-types";
import { ORGANIZATION_PARAM } from "@/server/contract/page-organization";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { exportRuns } from "@/server/runs/read/export";

const FORMATS = ["csv", "json"] as const;
// A slow reader may take hours.
const CHECK_MEMBER_EVERY_MS = 15_000;

/**
 * Streams the list's runs as a file: `?format=csv|json` and the list's filters. Answers 400 for an unknown
 * parameter, which would export more than intended.
 */
export const GET = memberRoute(async ({ services, request, actor }) => {
  const params = new URL(request.url).searchParams;
  const { filter, unread } = readFilter(params, ["format", ORGANIZATION_PARAM]);
  const format = FORMATS.find((each) => each === (params.get("format") ?? "csv"));
  if (unread.length > 0) throw new AppError("invalid_request", `Unknown filter: ${unread.join(", ")}.`);
  if (!format) throw new AppError("invalid_request", "The format must be csv or json.");
  const pieces = exportRuns(services, actor, { filter, format });
  const encoder = new TextEncoder();
  // Next may clear the request's headers after the handler has answered.
  const headers = new Headers(request.headers);
  let checkedAt = services.clock.monotonicMs();
  const requireMember = async () => {
    if (services.clock.monotonicMs() - checkedAt < CHECK_MEMBER_EVERY_MS) return;
    checkedAt = services.clock.monotonicMs();
    if (!(await isStillMember(services, headers, actor)))
      throw new AppError("unauthenticated", "The person is no longer a member.");
  };
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    // Called when the reader has taken the previous chunk.
    async pull(controller) {
      try {
        await requireMember();
        const work = () => pieces.next();
        const { value, done } = await queueDashboardCall(services, actor.orgId, { work });
        // The controller takes nothing more.
        if (isCancelled) return;
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        if (isCancelled) return;
        services.log.error("An export failed", { orgId: actor.orgId, error });
        // The file and the connection end early, so the browser reports a failed download.
        throw error;
      }
    },
    async cancel() {
      isCancelled = true;
      await pieces.return(undefined);
    },
  });
  const day = services.clock.now().toISOString().slice(0, 10);
  return privateResponse(stream, {
    type: format === "csv" ? "text/csv" : JSON_TYPE,
    fileName: `runs-${day}.${format}`,
  });
});
