import { getServices } from "@/process-services";
import { handleRest } from "@/server/api/rest";

// serve.ts answers /v1 without Next; this route is for deployments that run Next alone.
const handle = (request: Request) => handleRest(getServices(), request);

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
