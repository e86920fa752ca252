import { getServices } from "@/process-services";
import { respondToWebRequest } from "@/server/api/http/api-request";
import { respondToMcp } from "@/server/api/mcp/mcp";

// serve.ts answers /mcp without Next; this route is for deployments that run Next alone.
const handle = (request: Request) =>
  respondToWebRequest(request, (call) => respondToMcp(getServices(), call));

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
