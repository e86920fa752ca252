import { z } from "zod";
import type { Services } from "@/server/services";
import { answerOpenCall } from "../open-call";

const body = z.object({ token: z.string().min(1).max(100), account: z.unknown().optional() });

export function answerInvitation(
  request: Request,
  work: (services: Services, sent: z.output<typeof body>) => Promise<object>,
): Promise<Response> {
  return answerOpenCall(
    request,
    { name: "invitation", body, needs: "The invitation's token is required." },
    work,
  );
}
