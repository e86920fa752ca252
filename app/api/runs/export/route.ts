import { readFilter } from "@/app/(dashboard)/runs/address";
import { memberRoute, privateResponse } from "@/app/api/handlers";
import { streamPieces } from "@/app/api/piece-stream";
import { AppError } from "@/server/base/errors";
import { JSON_TYPE } from "@/server/contract/media-types";
import { ORGANIZATION_PARAM } from "@/server/contract/page-organization";
import { exportRuns } from "@/server/runs/read/export";

const FORMATS = ["csv", "json"] as const;

/**
 * Streams the list's runs as a file: `?format=csv|json` and the list's filters. Answers 400 for an unknown
 * parameter, which would export more than intended.
 */
export const GET = memberRoute(async (call) => {
  const { services, request, actor } = call;
  const params = new URL(request.url).searchParams;
  const { filter, unread } = readFilter(params, ["format", ORGANIZATION_PARAM]);
  const format = FORMATS.find((each) => each === (params.get("format") ?? "csv"));
  if (unread.length > 0) throw new AppError("invalid_request", `Unknown filter: ${unread.join(", ")}.`);
  if (!format) throw new AppError("invalid_request", "The format must be csv or json.");
  const pieces = exportRuns(services, actor, { filter, format });
  const day = services.clock.now().toISOString().slice(0, 10);
  return privateResponse(streamPieces(call, pieces, { name: "export" }), {
    type: format === "csv" ? "text/csv" : JSON_TYPE,
    fileName: `runs-${day}.${format}`,
  });
});
