import { answerErrors, requireOwnJson } from "@/app/api/handlers";
import { getServices } from "@/process-services";
import { respondToDashboard } from "@/server/api/dashboard/respond";
import { sessionFromHeaders } from "@/server/catalog/auth/sessions";

/** JSON only; mutations only from our own origin. */
function handle(request: Request): Promise<Response> {
  return answerErrors(async () => {
    const services = getServices();
    if (request.method !== "GET") requireOwnJson(services, request);
    const session = await sessionFromHeaders(services, request.headers);
    const actor = session?.member ?? null;
    return respondToDashboard(services, request, { actor, sessionId: session?.user.sessionId });
  });
}

export { handle as GET, handle as POST };
