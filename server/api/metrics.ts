import { timingSafeEqual } from "node:crypto";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { perOwner } from "@/server/base/per-owner";
import { sha256 } from "@/server/base/sha256";
import type { Services } from "@/server/services";
import type { ApiRequest, ApiResponse } from "./http/api-request";
import { errorResponse } from "./http/respond";

const registryOf = perOwner(async (services: Services) => {
  const { createRegistry } = await import("@/server/operate/metrics/registry");
  return createRegistry(services);
});

/** Before the first run, so that its model's name is known. Processes without metrics load nothing. */
export async function prepareMetrics(services: Services): Promise<void> {
  if (services.env.metrics !== undefined) await registryOf(services);
}

/**
 * Answers a scrape. On the service's port there are metrics only with STEPWELL_METRICS_TOKEN and without
 * STEPWELL_METRICS_PORT, whose own server calls it with `isOwnPort`. Never throws.
 */
export async function respondToMetrics(
  services: Services,
  request: ApiRequest,
  { isOwnPort = false } = {},
): Promise<ApiResponse> {
  try {
    const { metrics: settings } = services.env;
    if (settings === undefined || isOwnPort !== (settings.port !== undefined))
      throw new AppError("not_found", "There are no metrics at this address.");
    if (!["GET", "HEAD"].includes(request.method))
      throw new AppError("method_not_allowed", "Use GET.", { headers: { Allow: "GET, HEAD" } });
    if (settings.token !== undefined) requireToken(settings.token, request.header("authorization"));
    const registry = await registryOf(services);
    const headers = { "Content-Type": registry.contentType, "Cache-Control": "no-store" };
    return { status: 200, headers, body: await registry.metrics() };
  } catch (error) {
    return errorResponse(error, request, { requestId: newId(), services });
  }
}

// Compares hashes in constant time, so that neither text nor length of the token leaks.
function requireToken(token: string, authorization: string | null): void {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
  if (timingSafeEqual(sha256(given), sha256(token))) return;
  throw new AppError("unauthenticated", "Send STEPWELL_METRICS_TOKEN as a bearer token.", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
}
