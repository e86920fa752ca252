import type { z } from "zod";
import { getServices } from "@/process-services";
import { clientAddressOf } from "@/server/api/http/client-address";
import { AppError } from "@/server/base/errors";
import { tryParseJson } from "@/server/base/json/json";
import { MAX_SIGN_IN_BYTES } from "@/server/contract/sizes";
import { guardKey } from "@/server/guard/limits/memory-guards";
import { requireRate } from "@/server/guard/limits/rate-limit";
import { readBody } from "@/server/guard/limits/read-body";
import type { Services } from "@/server/services";
import { answerErrors, requireOwnJson } from "./handlers";

/** Only bounds the work, because a token has 256 bits. */
const PER_ADDRESS = { limit: 60, seconds: 60 };

/** `name`: of the calls' common limit. `needs`: the message if the body does not match. */
type OpenCall<Body extends z.ZodType> = { name: string; body: Body; needs: string };

/** Answers a call that needs no session: JSON from our own pages, bounded in size and rate. */
export function answerOpenCall<Body extends z.ZodType>(
  request: Request,
  { name, body, needs }: OpenCall<Body>,
  work: (services: Services, sent: z.output<Body>, clientAddress: string) => Promise<object>,
): Promise<Response> {
  const services = getServices();
  return answerErrors(async () => {
    requireOwnJson(services, request);
    const clientAddress = clientAddressOf(services.env, request);
    const key = `${name}:${guardKey(clientAddress)}`;
    await requireRate(services, { key, ...PER_ADDRESS, message: "Too many attempts." });
    const sent = body.safeParse(tryParseJson((await readBody(request, MAX_SIGN_IN_BYTES)).toString()));
    if (!sent.success) throw new AppError("invalid_request", needs);
    const answer = await work(services, sent.data, clientAddress);
    return Response.json(answer, { headers: { "cache-control": "no-store" } });
  });
}
