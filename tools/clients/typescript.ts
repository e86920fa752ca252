import openapiTypeScript, { astToString } from "openapi-typescript";
import { type OpenApiDocument, operationsOf } from "./operations";

/** The generated files of `client/src`. */

const NOTICE = "// Generated from the OpenAPI document by `npm run docs:generate`.\n";

export async function typesOfDocument(document: OpenApiDocument): Promise<string> {
  return `${NOTICE}\n${astToString(await openapiTypeScript(JSON.stringify(withoutTexts(document))))}`;
}

/** Without examples and the longer texts about operations, which docs/contract.md has. */
function withoutTexts(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutTexts(each));
  if (typeof value !== "object" || value === null) return value;
  const isOperation = "operationId" in value;
  const kept = Object.entries(value).filter(
    ([key]) => isNames || !(["example", "examples"].includes(key) || (isOperation && key === "description")),
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutTexts(part, key === "properties")]));
}

const textsField = (texts: string[]) => (texts.length === 0 ? "" : `, texts: ${JSON.stringify(texts)}`);

export function operationsOfDocument(document: OpenApiDocument): string {
  const lines = operationsOf(document).map(
    ({ id, method, path, repeat, texts }) =>
      `  ${id}: { method: "${method}", path: "${path}", repeat: "${repeat}"${textsField(texts)} },\n`,
  );
  return `${NOTICE}
import type { OperationId } from "./types.js";

type Operation = {
  method: string;
  path: string;
  /** If true, an attempt that may have arrived is repeated. */
  repeat: "always" | "with-key" | "never";
  /** The media types of answers that are texts. */
  texts?: readonly string[];
};

export const OPERATIONS: Readonly<Record<OperationId, Operation>> = {
${lines.join("")}};
`;
}
