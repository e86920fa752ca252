import { getServices } from "@/process-services";
import { handleWebhook } from "@/server/api/webhook";

// serve.ts answers /webhooks without Next; this route is for deployments that run Next alone.
const handle = (request: Request) => handleWebhook(getServices(), request);

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
