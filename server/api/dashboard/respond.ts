import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { boundBodyBytes } from "@/server/api/http/api-request";
import { checkSentText } from "@/server/api/sent-input";
import type { ApiContext } from "@/server/api/trpc";
import { isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { organizationHeaders } from "@/server/catalog/auth/page-organization";
import { MAX_BATCHED_CALLS } from "@/server/contract/enums";
import { ORGANIZATION_HEADER } from "@/server/contract/page-organization";
import { MAX_DASHBOARD_CALL_BYTES } from "@/server/contract/sizes";
import { START_ID_HEADER } from "@/server/contract/start-id";
import { readBody } from "@/server/guard/limits/read-body";
import type { Services } from "@/server/services";
import { dashboardRouter } from "./router";

/**
 * Answers a request for the dashboard's procedures. Checks size, depth and number of values before parsing, because
 * the parsers of definitions are recursive. Throws `payload_too_large` and `invalid_request`.
 */
export async function respondToDashboard(
  services: Services,
  request: Request,
  { actor, sessionId }: Pick<ApiContext, "actor" | "sessionId">,
): Promise<Response> {
  const requestId = newId();
  const pageOrganization = request.headers.get(ORGANIZATION_HEADER);
  const respond = (req: Request) =>
    fetchRequestHandler({
      endpoint: "/api/trpc",
      req,
      router: dashboardRouter,
      maxBatchSize: MAX_BATCHED_CALLS,
      createContext: () => ({
        services,
        actor,
        requestId,
        sessionId,
        pageOrganization,
        startId: readStartId(request),
      }),
      responseMeta: ({ errors }) => {
        const headers = new Headers({
          "cache-control": "no-store",
          "x-request-id": requestId,
          ...(actor?.kind === "member" && organizationHeaders(actor, pageOrganization)),
        });
        for (const { cause } of errors) {
          if (!isAppError(cause)) continue;
          for (const [name, value] of Object.entries(cause.headers)) headers.set(name, value);
        }
        return { headers };
      },
    });
  // Without an actor no input is read.
  if (actor === null) return respond(request);
  const header = (name: string) => request.headers.get(name);
  const bytes = request.method === "GET" ? 0 : boundBodyBytes({ header }, MAX_DASHBOARD_CALL_BYTES);
  return services.memory.answer(actor.orgId, { bytes, from: request }, async () =>
    respond(await withCheckedInput(request)),
  );
}

function readStartId({ headers }: Request): string | null {
  const id = headers.get(START_ID_HEADER);
  return id !== null && /^[0-9a-f]{32}$/.test(id) ? id : null;
}

async function withCheckedInput(request: Request): Promise<Request> {
  const { method, url, headers } = request;
  checkSentText(new URL(url).searchParams.get("input") ?? "");
  if (method === "GET") return request;
  const body = await readBody(request, MAX_DASHBOARD_CALL_BYTES);
  checkSentText(body.toString());
  // Its queue drops the call if the caller leaves.
  return new Request(url, { method, headers, body: new Uint8Array(body), signal: request.signal });
}
