import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { answerErrors, requireOwnJson } from "@/app/api/handlers";
import { getServices } from "@/process-services";
import { dashboardRouter } from "@/server/api/dashboard/router";
import { sessionFromHeaders } from "@/server/auth/sessions";
import { newId } from "@/server/ids";
import { readBody } from "@/server/limits/read-body";
import { MAX_DASHBOARD_CALL_BYTES } from "@/server/limits/sizes";

/** The dashboard's procedures: JSON only; mutations only from our own origin. */
function handle(request: Request): Promise<Response> {
  return answerErrors(async () => {
    const services = getServices();
    const requestId = newId();
    const isRead = request.method === "GET";
    if (!isRead) requireOwnJson(services, request);
    const session = await sessionFromHeaders(services, request.headers);
    const actor = session?.member ?? null;
    return fetchRequestHandler({
      endpoint: "/api/trpc",
      req: actor === null || isRead ? request : await withBoundedBody(request),
      router: dashboardRouter,
      createContext: () => ({ services, actor, requestId, sessionId: session?.user.sessionId }),
      responseMeta: () => ({
        headers: new Headers({ "cache-control": "no-store", "x-request-id": requestId }),
      }),
    });
  });
}

/** The request with its body read. Throws if the body is too large. */
async function withBoundedBody(request: Request): Promise<Request> {
  const { method, url, headers } = request;
  const body = new Uint8Array(await readBody(request, MAX_DASHBOARD_CALL_BYTES));
  return new Request(url, { method, headers, body });
}

export { handle as GET, handle as POST };
