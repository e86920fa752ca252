import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { dashboardRouter } from "@/server/api/dashboard/router";
import { isSameOrigin, memberFromHeaders } from "@/server/auth/sessions";
import { newId } from "@/server/ids";
import { getServices } from "@/wiring";

/** The door of the dashboard's own calls: JSON only, changes only from our own pages (CSRF). */
async function handle(request: Request): Promise<Response> {
  const services = getServices();
  const requestId = newId();
  if (request.method !== "GET") {
    const contentType = request.headers.get("content-type")?.split(";")[0]?.trim();
    if (!isSameOrigin(services, request.headers) || contentType !== "application/json") {
      return refuse(requestId);
    }
  }
  const actor = await memberFromHeaders(services, request.headers);
  return fetchRequestHandler({
    endpoint: "/api/trpc",
    req: request,
    router: dashboardRouter,
    createContext: () => ({ services, actor, requestId }),
    responseMeta: () => ({
      headers: new Headers({ "cache-control": "no-store", "x-request-id": requestId }),
    }),
  });
}

function refuse(requestId: string): Response {
  const message = "This call must come from the dashboard itself, as JSON.";
  return Response.json(
    { success: false, code: "forbidden", message, requestId },
    { status: 403, headers: { "x-request-id": requestId } },
  );
}

export { handle as GET, handle as POST };
