import { getServices } from "@/process-services";
import { createOpenApiDocument } from "@/server/api/openapi/document";
import { JSON_TYPE } from "@/server/contract/media-types";

export const dynamic = "force-dynamic";

let text: string | undefined;

/** The contract as an OpenAPI 3.1 document, with APP_URL as its server. Built once per process. */
export function GET(): Response {
  text ??= JSON.stringify(createOpenApiDocument(getServices().env.appUrl));
  return new Response(text, { headers: { "Content-Type": JSON_TYPE, "Cache-Control": "no-cache" } });
}
