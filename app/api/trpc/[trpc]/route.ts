import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { getServices } from "@/process-services";
import { dashboardRouter } from "@/server/api/dashboard/router";
import { isSameOrigin, sessionFromHeaders } from "@/server/auth/sessions";
import { type ErrorCode, HTTP_STATUS, isAppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { readBody } from "@/server/limits/read-body";
import { MAX_DASHBOARD_CALL_BYTES } from "@/server/limits/sizes";

/** The dashboard's procedures: JSON only; mutations only from our own origin (CSRF). */
async function handle(request: Request): Promise<Response> {
  const services = getServices();
  const requestId = newId();
  if (request.method !== "GET") {
    const contentType = request.headers.get("content-type")?.split(";")[0]?.trim();
    if (!isSameOrigin(services, request.headers) || contentType !== "application/json") {
      return refuse(requestId, "forbidden", "This call must come from the dashboard, as JSON.");
    }
  }
  const session = await sessionFromHeaders(services, request.headers);
  const actor = session?.member ?? null;
  const sized = actor === null || request.method === "GET" ? request : await readSized(request);
  if (sized === null) return refuse(requestId, "payload_too_large", "This call is too large.");
  return fetchRequestHandler({
    endpoint: "/api/trpc",
    req: sized,
    router: dashboardRouter,
    createContext: () => ({ services, actor, requestId, sessionId: session?.user.sessionId }),
    responseMeta: () => ({
      headers: new Headers({ "cache-control": "no-store", "x-request-id": requestId }),
    }),
  });
}

/** The request with its body read; null if the body is too large. */
async function readSized(request: Request): Promise<Request | null> {
  const { method, url, headers } = request;
  try {
    const body = new Uint8Array(await readBody(request, MAX_DASHBOARD_CALL_BYTES));
    return new Request(url, { method, headers, body });
  } catch (error) {
    if (isAppError(error)) return null;
    throw error;
  }
}

function refuse(requestId: string, code: ErrorCode, message: string): Response {
  return Response.json(
    { success: false, code, message, requestId },
    { status: HTTP_STATUS[code], headers: { "x-request-id": requestId } },
  );
}

export { handle as GET, handle as POST };
