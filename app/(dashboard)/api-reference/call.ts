import { quoted } from "@/app/_ui/curl";
import type { Operation } from "./read-document";

/** A call of an operation as filled in. */
type Call = {
  /** By parameter name; an empty text is left out. */
  values: Record<string, string>;
  body: string;
};

/** What replaces a key: the name of a shell variable. */
const KEY_PLACEHOLDER = "$API_KEY";

/** The path of a call below the origin; a parameter without a value keeps its braces. */
export function pathOf({ path, parameters }: Operation, { values }: Call): string {
  return parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((sofar, { name }) => {
      const value = values[name]?.trim();
      return value ? sofar.replace(`{${name}}`, encodeURIComponent(value)) : sofar;
    }, path);
}

/** The path parameters without a value. */
export function missingIn({ parameters }: Operation, { values }: Call): string[] {
  return parameters
    .filter((parameter) => parameter.in === "path" && !values[parameter.name]?.trim())
    .map(({ name }) => name);
}

/** The headers that are filled in, without the key. */
export function headersOf(operation: Operation, { values }: Call): [string, string][] {
  const given = operation.parameters
    .filter((parameter) => parameter.in === "header")
    .flatMap(({ name }): [string, string][] => {
      const value = values[name]?.trim();
      return value ? [[name, value]] : [];
    });
  return operation.body === null ? given : [...given, ["Content-Type", "application/json"]];
}

/** A shell command for a call; the key comes from the variable `API_KEY`, so that the line holds no secret. */
export function commandOf(operation: Operation, call: Call, origin: string): string {
  return [
    `curl${operation.method === "GET" ? "" : ` -X ${operation.method}`} ${quoted(origin + pathOf(operation, call))}`,
    ...(operation.keyed ? [`  -H "X-API-Key: ${KEY_PLACEHOLDER}"`] : []),
    ...headersOf(operation, call).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    ...(operation.body === null ? [] : [`  --data-raw ${quoted(call.body)}`]),
  ].join(" \\\n");
}
