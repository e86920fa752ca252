import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { boundBodyBytes } from "@/server/api/http/api-request";
import type { ApiContext } from "@/server/api/trpc";
import { AppError, isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { findExcess, MAX_JSON_DEPTH } from "@/server/base/json/text";
import { organizationHeaders } from "@/server/catalog/auth/page-organization";
import { MAX_BATCHED_CALLS } from "@/server/contract/enums";
import { ORGANIZATION_HEADER } from "@/server/contract/page-organization";
import { MAX_DASHBOARD_CALL_BYTES } from "@/server/contract/sizes";
import { readBody } from "@/server/guard/limits/read-body";
import type { Services } from "@/server/services";
import { dashboardRouter } from "./router";

// Parsing and checking this many takes some hundredths of a second, in which the process answers no other
// call.
const MAX_CALL_VALUES = 20_000;

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
      }),
      responseMeta: ({ errors }) => {
        const headers = new Headers({
          "cache-control": "no-store",
          "x-request-id": requestId,
          ...(actor && organizationHeaders(actor, pageOrganization)),
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
  return services.memory.answer(actor.orgId, bytes, async () => respond(await withCheckedInput(request)));
}

async function withCheckedInput(request: Request): Promise<Request> {
  const { method, url, headers } = request;
  checkInput(new URL(url).searchParams.get("input") ?? "");
  if (method === "GET") return request;
  const body = await readBody(request, MAX_DASHBOARD_CALL_BYTES);
  checkInput(body.toString());
  // Its queue drops the call if the caller leaves.
  return new Request(url, { method, headers, body: new Uint8Array(body), signal: request.signal });
}

function checkInput(text: string): void {
  const excess = findExcess(text, { depth: MAX_JSON_DEPTH, values: MAX_CALL_VALUES });
  if (excess === null) return;
  const reason =
    excess === "depth"
      ? `is nested deeper than ${MAX_JSON_DEPTH} levels`
      : `has more than ${MAX_CALL_VALUES} values`;
  throw new AppError("invalid_request", `The input ${reason}.`);
}
