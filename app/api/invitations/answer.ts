import { z } from "zod";
import { getServices } from "@/process-services";
import { clientAddressOf } from "@/server/api/http/client-address";
import { AppError } from "@/server/base/errors";
import { tryParseJson } from "@/server/base/json/json";
import { MAX_SIGN_IN_BYTES } from "@/server/contract/sizes";
import { guardKey } from "@/server/guard/limits/memory-guards";
import { acquireRate } from "@/server/guard/limits/rate-limit";
import { readBody } from "@/server/guard/limits/read-body";
import type { Services } from "@/server/services";
import { answerErrors, requireOwnJson } from "../handlers";

const body = z.object({ token: z.string().min(1).max(100), account: z.unknown().optional() });

/** Calls from one address; a token has 256 bits, so this only bounds the work. */
const PER_ADDRESS = { limit: 60, seconds: 60 };

/**
 * Answers a call of the invitation page, whose caller needs no session: JSON from our own pages, bounded in size and
 * rate.
 */
export function answerInvitation(
  request: Request,
  work: (services: Services, sent: z.output<typeof body>) => Promise<object>,
): Promise<Response> {
  const services = getServices();
  return answerErrors(async () => {
    requireOwnJson(services, request);
    const key = `invitation:${guardKey(clientAddressOf(services.env, request))}`;
    const rate = await acquireRate(services.pool, { key, ...PER_ADDRESS }, { clock: services.clock });
    if (!rate.allowed) {
      const seconds = String(rate.resetSeconds);
      const headers = { "retry-after": seconds };
      throw new AppError("rate_limited", `Too many attempts. Try again in ${seconds} s.`, { headers });
    }
    const sent = body.safeParse(tryParseJson((await readBody(request, MAX_SIGN_IN_BYTES)).toString()));
    if (!sent.success) throw new AppError("invalid_request", "The invitation's token is required.");
    return Response.json(await work(services, sent.data), { headers: { "cache-control": "no-store" } });
  });
}
