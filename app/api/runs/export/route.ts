import { readAddress } from "@/app/(dashboard)/runs/address";
import { memberForRoute, refuseRoute } from "@/app/request";
import { getServices } from "@/process-services";
import { queueDashboardCall } from "@/server/limits/dashboard-queue";
import { exportRuns } from "@/server/runs/read/export";

const FORMATS = ["csv", "json"] as const;

/**
 * Streams the runs of the list as a file: `?format=csv|json` and the list's filters. Answers 400 for an unknown
 * parameter, which would export more than intended.
 */
export async function GET(request: Request): Promise<Response> {
  const services = getServices();
  const found = await memberForRoute(services, request);
  if ("refusal" in found) return found.refusal;
  const params = new URL(request.url).searchParams;
  const { filter, unread } = readAddress(params, ["format"]);
  const format = FORMATS.find((each) => each === (params.get("format") ?? "csv"));
  if (unread.length > 0) return refuseRoute("invalid_request", `Unknown filter: ${unread.join(", ")}.`);
  if (!format) return refuseRoute("invalid_request", "The format must be csv or json.");
  const pieces = exportRuns(services, found.actor, { filter, format });
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    // Called when the reader has taken the previous chunk.
    async pull(controller) {
      try {
        const work = () => pieces.next();
        const { value, done } = await queueDashboardCall(services, found.actor.orgId, { work });
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        services.log.error("An export failed", { orgId: found.actor.orgId, error });
        // The file and the connection end early, so the browser reports a failed download.
        throw error;
      }
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
  const day = services.clock.now().toISOString().slice(0, 10);
  return new Response(stream, {
    headers: {
      "content-type": format === "csv" ? "text/csv; charset=utf-8" : "application/json; charset=utf-8",
      "content-disposition": `attachment; filename="runs-${day}.${format}"`,
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    },
  });
}
