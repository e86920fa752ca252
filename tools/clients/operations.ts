import type { createOpenApiDocument } from "@/server/api/openapi/document";
import { ENDPOINTS } from "@/server/api/v1/endpoints";
import { JSON_TYPE } from "@/server/contract/media-types";

/** The operations of the OpenAPI document, as the clients of `client/` and `client-python/` need them. */

export type OpenApiDocument = ReturnType<typeof createOpenApiDocument>;
type PathItem = NonNullable<OpenApiDocument["paths"]>[string];
type DeclaredOperation = NonNullable<PathItem["post"]>;

type Repeat = "always" | "with-key" | "never";

export type Operation = {
  id: string;
  method: string;
  path: string;
  repeat: Repeat;
  texts: string[];
  declared: DeclaredOperation;
};

const IDEMPOTENT = new Set(
  Object.values(ENDPOINTS).flatMap(({ operationId, idempotent }) => (idempotent ? [operationId] : [])),
);

export function operationsOf(document: OpenApiDocument): Operation[] {
  const found: Operation[] = [];
  for (const [path, { get, post, put, patch, delete: remove }] of Object.entries(document.paths ?? {})) {
    for (const [name, declared] of Object.entries({ get, post, put, patch, delete: remove })) {
      if (declared === undefined) continue;
      const { operationId } = declared;
      if (operationId === undefined) throw new Error(`${name} ${path} has no operationId.`);
      const method = name.toUpperCase();
      found.push({
        id: operationId,
        method,
        path,
        repeat: repeatOf({ id: operationId, method, declared }),
        texts: textsOf(declared),
        declared,
      });
    }
  }
  return found.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** None for an operation without JSON: the handles of runs read its events. */
function textsOf({ responses }: DeclaredOperation): string[] {
  const success = responses?.["200"];
  const types = success !== undefined && "content" in success ? Object.keys(success.content ?? {}) : [];
  return types.includes(JSON_TYPE) ? types.filter((type) => type !== JSON_TYPE) : [];
}

function repeatOf({ id, method, declared }: Pick<Operation, "id" | "method" | "declared">): Repeat {
  const headers = (declared.parameters ?? []).map((each) => ("name" in each ? each.name : ""));
  if (headers.includes("Idempotency-Key")) return "with-key";
  if (["GET", "PUT", "DELETE"].includes(method) || IDEMPOTENT.has(id)) return "always";
  return "never";
}
