import { getServices } from "@/process-services";
import type { MemberActor } from "@/server/base/actor";
import { AppError, isAppError } from "@/server/base/errors";
import { isUuid, newId } from "@/server/base/ids";
import { requirePageOrganization } from "@/server/catalog/auth/page-organization";
import { isSameOrigin, sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { JSON_TYPE } from "@/server/contract/media-types";
import { ORGANIZATION_PARAM } from "@/server/contract/page-organization";
import { KIB } from "@/server/contract/sizes";
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

export type Call = { services: Services; request: Request; actor: MemberActor };

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

const PIECE_LENGTH = 64 * KIB;

/**
 * Counts the bytes of a file for its organization until the returned function is called, or the reader leaves. Throws
 * `rate_limited` if the organization's downloads in progress are too large.
 */
export function holdUnread(
  { services: { memory }, request, actor: { orgId } }: Call,
  bytes: number,
): () => void {
  if (!memory.unread.hasRoom(orgId, bytes)) {
    const message = "Your organization has too many downloads in progress. Try again in 5 s.";
    throw new AppError("rate_limited", message, { headers: { "retry-after": "5" } });
  }
  const { leave } = memory.unread.enterNow(orgId, bytes);
  request.signal.addEventListener("abort", leave, { once: true });
  return leave;
}

/** Sends a text in pieces, and counts it until the reader has taken it. Throws `rate_limited`. */
export function privateText(
  call: Call,
  text: string,
  options: { type: string; fileName?: string | undefined },
): Response {
  const leave = holdUnread(call, Buffer.byteLength(text));
  const encoder = new TextEncoder();
  let at = 0;
  const pieces = new ReadableStream<Uint8Array>(
    {
      // Called when the reader has taken the previous piece.
      pull(controller) {
        const end = endOfPiece(text, at + PIECE_LENGTH);
        if (at < end) controller.enqueue(encoder.encode(text.slice(at, end)));
        at = end;
        if (at < text.length) return;
        controller.close();
        leave();
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  return privateResponse(pieces, options);
}

// Does not divide a character of two units.
function endOfPiece(text: string, end: number): number {
  const isDivided = end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return isDivided ? end - 1 : Math.min(end, text.length);
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
