import { quoted } from "@/app/_ui/curl";
import { readJson, writeJson } from "@/server/base/json/json";
import { JSON_TYPE } from "@/server/contract/media-types";
import type { Operation } from "./read-document";

type Call = {
  operation: Operation;
  values: Record<string, string>;
  body: string;
};

function valuesIn(place: "path" | "query" | "header", { operation, values }: Call): [string, string][] {
  return operation.parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name }) => [name, values[name]?.trim() ?? ""]);
}

/** A path parameter without a value keeps its braces. */
function pathOf(call: Call): string {
  const path = valuesIn("path", call).reduce(
    (before, [name, value]) =>
      value ? before.replace(`{${name}}`, encodeURIComponent(wellFormed(value))) : before,
    call.operation.path,
  );
  const query = new URLSearchParams(valuesIn("query", call).filter(([, value]) => value));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Half an emoji becomes U+FFFD, because `encodeURIComponent` throws on it. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\uFFFD");

export function missingIn(call: Call): string[] {
  return valuesIn("path", call).flatMap(([name, value]) => (value ? [] : name));
}

function headersOf(call: Call): [string, string][] {
  const given = valuesIn("header", call).filter(([, value]) => value);
  return call.operation.body === null ? given : [...given, ["Content-Type", JSON_TYPE]];
}

/** A shell command for a call; the key comes from the variable `API_KEY`, so that the line holds no secret. */
export function commandOf(call: Call, origin: string): string {
  const { method, keyed, body } = call.operation;
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(origin + pathOf(call))}`,
    ...(keyed ? [`  -H "X-API-Key: $API_KEY"`] : []),
    ...headersOf(call).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`  --data-raw ${quoted(call.body)}`]),
  ].join(" \\\n");
}

/** The response to a call, or why there is none. */
export type Answer =
  | { status: string; ok: boolean; durationMs: number; requestId: string | null; text: string }
  | { failure: string };

/** More than `wait` allows. */
const TIMEOUT_MS = 40_000;
const MAX_SHOWN = 100_000;

/** Sends a call to this service and reads its response, indented if it is JSON. Never throws. */
export async function send(call: Call, key: string): Promise<Answer> {
  const { method, keyed, body } = call.operation;
  const headers = [...headersOf(call), ...(keyed ? [["X-API-Key", key]] : [])];
  const startedAt = performance.now();
  try {
    const response = await fetch(pathOf(call), {
      method,
      headers: Object.fromEntries(headers),
      ...(body === null ? {} : { body: call.body }),
      // A call is made as a program would make it: with the key alone.
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = indent(await readText(response));
    return {
      status: `${response.status} ${response.statusText}`.trim(),
      ok: response.ok,
      durationMs: performance.now() - startedAt,
      requestId: response.headers.get("x-request-id"),
      text: text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text,
    };
  } catch (error) {
    if (isTimeout(error)) {
      return { failure: `There was no response within ${TIMEOUT_MS / 1000} s.` };
    }
    return { failure: "Could not send the call. Check the header values and the connection." };
  }
}

const isTimeout = (error: unknown) => error instanceof DOMException && error.name === "TimeoutError";

async function readText(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      text += part.value;
  } catch (error) {
    const areEvents = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!areEvents || !isTimeout(error)) throw error;
  }
  return text;
}

function indent(text: string): string {
  try {
    return writeJson(readJson(text), 2);
  } catch {
    return text;
  }
}
