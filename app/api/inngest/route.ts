import { getServices } from "@/process-services";
import { respondToEngineCall } from "@/server/api/engine-call";
import { respondToWebRequest } from "@/server/api/http/api-request";

/** serve.ts answers these calls without Next. */
const handle = (request: Request) =>
  respondToWebRequest(request, (call) => respondToEngineCall(getServices(), call, new URL(request.url)));

export { handle as GET, handle as POST, handle as PUT };
