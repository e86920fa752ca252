import { createOpenApiDocument } from "@/server/api/openapi";
import { getServices } from "@/wiring";

export const dynamic = "force-dynamic";

/** The contract as an OpenAPI 3.1 document, with APP_URL as its server. */
export function GET(): Response {
  return Response.json(createOpenApiDocument(getServices().env.appUrl));
}
