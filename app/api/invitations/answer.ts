import { z } from "zod";
import { refuseRoute } from "@/app/request";
import { getServices } from "@/process-services";
import { clientAddressOf } from "@/server/api/http/client-address";
import { isSameOrigin } from "@/server/auth/sessions";
import { AppError, isAppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { guardKey } from "@/server/limits/memory-guards";
import { acquireRate } from "@/server/limits/rate-limit";
import { readBody } from "@/server/limits/read-body";
import { MAX_SIGN_IN_BYTES } from "@/server/limits/sizes";
import type { Services } from "@/server/services";

const body = z.object({ token: z.string().min(1).max(100), account: z.unknown().optional() });

/** Calls from one address; a token has 256 bits, so this only bounds the work. */
const PER_ADDRESS = { limit: 60, seconds: 60 };

/**
 * Answers a call of the invitation page, whose caller needs no session: JSON from our own pages, bounded in size and
 * rate.
 */
export async function answerInvitation(
  request: Request,
  work: (services: Services, sent: z.output<typeof body>) => Promise<object>,
): Promise<Response> {
  const services = getServices();
  try {
    const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (!isSameOrigin(services, request.headers) || type !== "application/json") {
      return refuseRoute("forbidden", "This call must come from the invitation's page, as JSON.");
    }
    const key = `invitation:${guardKey(clientAddressOf(services.env, request))}`;
    const rate = await acquireRate(services.pool, { key, ...PER_ADDRESS }, { clock: services.clock });
    if (!rate.allowed) {
      const headers = { "retry-after": String(rate.resetSeconds) };
      return refuseRoute("rate_limited", `Too many attempts. Try again in ${rate.resetSeconds} s.`, headers);
    }
    const sent = body.safeParse(parse(await readBody(request, MAX_SIGN_IN_BYTES)));
    if (!sent.success) throw new AppError("invalid_request", "The invitation's token is required.");
    return Response.json(await work(services, sent.data), { headers: { "cache-control": "no-store" } });
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { code, message, status, issues = [] } = error;
    const requestId = newId();
    return Response.json(
      { success: false, code, message, requestId, issues },
      { status, headers: { "x-request-id": requestId, "cache-control": "no-store" } },
    );
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
