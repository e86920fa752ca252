import { handleWebhook } from "@/server/api/webhook";
import { getServices } from "@/wiring";

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
