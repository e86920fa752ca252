import { getServices } from "@/process-services";
import type { MemberActor } from "@/server/base/actor";
import { AppError, isAppError } from "@/server/base/errors";
import { isUuid, newId } from "@/server/base/ids";
import { requirePageOrganization } from "@/server/catalog/auth/page-organization";
import { isSameOrigin, sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { JSON_TYPE } from "@/server/contract/media-types";
import { ORGANIZATION_PARAM } from "@/server/contract/page-organization";
import type { Services } from "@/server/services";

/** Answers with what `work` returns. An `AppError` that it throws becomes the contract's error body. */
export async function answerErrors(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { code, message, issues, status, headers } = error;
    const requestId = newId();
    return Response.json(
      { success: false, code, message, requestId, issues },
      { status, headers: { ...headers, "x-request-id": requestId, "cache-control": "no-store" } },
    );
  }
}

type Call = { services: Services; request: Request; actor: MemberActor };

export function memberRoute(answer: (call: Call) => Promise<Response>) {
  return (request: Request): Promise<Response> =>
    answerErrors(async () => {
      const services = getServices();
      const session = await sessionFromHeaders(services, request.headers);
      if (!session?.member) throw new AppError("unauthenticated", "Sign in to continue.");
      const shown = new URL(request.url).searchParams.get(ORGANIZATION_PARAM);
      requirePageOrganization(session.member, shown);
      return answer({ services, request, actor: session.member });
    });
}

/** A route handler about a run. If `answer` returns null, the organization has no such run. */
export function runRoute(answer: (call: Call & { runId: string }) => Promise<Response | null>) {
  return async (request: Request, { params }: { params: Promise<{ runId: string }> }) => {
    const { runId } = await params;
    const handle = memberRoute(async (call) => {
      const response = isUuid(runId) ? await answer({ ...call, runId }) : null;
      if (response) return response;
      throw new AppError("not_found", `There is no run ${runId} in this organization.`);
    });
    return handle(request);
  };
}

/** Rejects calls from other sites (CSRF): a call must be JSON from our own origin. */
export function requireOwnJson(services: Pick<Services, "env">, { headers }: Request): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (isSameOrigin(services, headers) && type === JSON_TYPE) return;
  throw new AppError("forbidden", "This call must come from a page of this site, as JSON.");
}

/** A response of private data, saved under `fileName` if one is given. Browsers do not guess another content type. */
export function privateResponse(
  body: BodyInit,
  { type, fileName }: { type: string; fileName?: string | undefined },
): Response {
  return new Response(body, {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
      ...(fileName ? { "content-disposition": `attachment; filename="${fileName}"` } : {}),
    },
  });
}
