import { z } from "zod";
import { MAX_TOKEN_LENGTH } from "@/server/catalog/auth/one-time-links";
import type { Services } from "@/server/services";
import { answerOpenCall } from "./open-call";

const body = z.object({ token: z.string().min(1).max(MAX_TOKEN_LENGTH), input: z.unknown().optional() });

/** Answers a call of a one-time link's page. The token is in the body: addresses are logged. */
export function answerLinkCall(
  request: Request,
  work: (services: Services, sent: z.output<typeof body>) => Promise<object>,
): Promise<Response> {
  return answerOpenCall(
    request,
    { name: "one-time-link", body, needs: "The link's token is required." },
    work,
  );
}
