import { quoted } from "@/app/_ui/curl";
import type { Operation } from "./read-document";

/** A call of an operation as filled in. */
type Call = {
  /** By parameter name; an empty text is left out. */
  values: Record<string, string>;
  body: string;
};

/** The parameters of one location with their typed values; an empty text for each other one. */
function valuesIn(place: "path" | "header", { parameters }: Operation, { values }: Call): [string, string][] {
  return parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name }) => [name, values[name]?.trim() ?? ""]);
}

/** The path of a call below the origin; a parameter without a value keeps its braces. */
export function pathOf(operation: Operation, call: Call): string {
  return valuesIn("path", operation, call).reduce(
    (path, [name, value]) => (value ? path.replace(`{${name}}`, encodeURIComponent(value)) : path),
    operation.path,
  );
}

/** The path parameters without a value. */
export function missingIn(operation: Operation, call: Call): string[] {
  return valuesIn("path", operation, call).flatMap(([name, value]) => (value ? [] : name));
}

/** The headers that are filled in, without the key. */
export function headersOf(operation: Operation, call: Call): [string, string][] {
  const given = valuesIn("header", operation, call).filter(([, value]) => value);
  return operation.body === null ? given : [...given, ["Content-Type", "application/json"]];
}

/** A shell command for a call; the key comes from the variable `API_KEY`, so that the line holds no secret. */
export function commandOf(operation: Operation, call: Call, origin: string): string {
  return [
    `curl${operation.method === "GET" ? "" : ` -X ${operation.method}`} ${quoted(origin + pathOf(operation, call))}`,
    ...(operation.keyed ? [`  -H "X-API-Key: $API_KEY"`] : []),
    ...headersOf(operation, call).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    ...(operation.body === null ? [] : [`  --data-raw ${quoted(call.body)}`]),
  ].join(" \\\n");
}
