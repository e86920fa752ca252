import { handleRest } from "@/server/api/rest";
import { getServices } from "@/wiring";

// The process (serve.ts) answers /v1 without Next; this is the same door for a deployment that runs Next alone.
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
