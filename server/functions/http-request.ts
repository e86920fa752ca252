import { z } from "zod";
import { EgressError } from "@/server/egress/failures";
import { defineFunction, type EgressFetch } from "@/server/functions/define";
import { FunctionError } from "@/server/functions/function-error";
import type { Json } from "@/server/json";
import { parseJson } from "@/server/json-text";

const UNSAFE = new Set(["POST", "PUT", "PATCH", "DELETE"]);

const parameter = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** The address with the query's parameters added; a list gives one parameter for each of its items. */
function withQuery(
  url: string,
  query: Record<string, z.infer<typeof parameter> | z.infer<typeof parameter>[]>,
): URL {
  if (!URL.canParse(url)) throw new FunctionError("invalid_request", `"${url.slice(0, 200)}" is not a URL.`);
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) target.searchParams.append(name, String(item));
    }
  }
  return target;
}

const mediaType = (headers: Headers) =>
  (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/**
 * JSON parsed when the type says JSON (and the text is), text as text, and anything else as
 * `{ "base64": "…", "bytes": N }`.
 */
function readBody(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Json {
  const type = mediaType(headers);
  const charset = /charset="?([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1] ?? "utf-8";
  let text: string;
  try {
    text = new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return { base64: Buffer.from(bytes).toString("base64"), bytes: bytes.length };
  }
  if (type === "application/json" || type.endsWith("+json") || type === "text/json") {
    try {
      return parseJson(text);
    } catch {
      return text;
    }
  }
  if (text.includes("\u0000")) return { base64: Buffer.from(bytes).toString("base64"), bytes: bytes.length };
  return text;
}

/** Sends the request and reads the whole body. Throws FunctionError `call_failed`. */
async function send(fetch: EgressFetch, target: URL, init: RequestInit) {
  try {
    const response = await fetch(target, init);
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new FunctionError("call_failed", error.message, { cause: error });
  }
}

/** One outbound HTTP call; any status is a result. */
export const httpRequest = defineFunction({
  name: "http_request",
  title: "HTTP request",
  description:
    "Calls a public HTTP or HTTPS address and returns its status, headers and body (parsed if it is JSON). " +
    "Any HTTP status is a result.",
  input: z.object({
    url: z.string().min(1).max(16_384).describe("The full address, starting with http:// or https://."),
    method: z
      .enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      .optional()
      .describe("Default: GET."),
    headers: z.record(z.string(), z.string()).optional().describe("Request headers."),
    query: z
      .record(z.string(), z.union([parameter, z.array(parameter)]))
      .optional()
      .describe("Query parameters to add to the address."),
    body: z
      .custom<Json>()
      .optional()
      .describe("The request's body: text is sent unchanged, any other value as JSON."),
  }),
  output: z.object({
    status: z.int().describe("The HTTP status."),
    headers: z.record(z.string(), z.string()).describe("The response's headers; names are in lower case."),
    body: z.json().describe('Parsed if it is JSON, else text; binary data as {"base64": "…", "bytes": N}.'),
  }),
  errors: {
    call_failed:
      "The address is not public and EGRESS_ALLOW does not name it, the server cannot be reached, or the response is too large or redirects too often.",
    invalid_request: "The address or a header is invalid, or a GET or HEAD request has a body.",
  },
  limits: ["4 MiB for a response, decompressed", "5 redirects"],
  price: "action",
  hasSideEffects: true,
  timeoutMs: 60_000,
  example: {
    input: { url: "https://api.example.com/stock", query: { sku: "A-1" } },
    output: {
      status: 200,
      headers: { "content-type": "application/json" },
      body: { sku: "A-1", inStock: 4 },
    },
  },
  async run(
    { url, method = "GET", headers: given = {}, query = {}, body },
    { fetch, signal, idempotencyKey },
  ) {
    const target = withQuery(url, query);
    const headers = new Headers();
    for (const [name, value] of Object.entries(given)) {
      try {
        headers.set(name, value);
      } catch {
        throw new FunctionError(
          "invalid_request",
          `The header "${name.slice(0, 100)}" has a name or value that cannot be sent.`,
        );
      }
    }
    const hasBody = body !== undefined && body !== null;
    if (hasBody && (method === "GET" || method === "HEAD"))
      throw new FunctionError("invalid_request", `A ${method} request cannot have a body.`);
    if (hasBody && !headers.has("content-type")) {
      headers.set("content-type", typeof body === "string" ? "text/plain;charset=UTF-8" : "application/json");
    }
    if (UNSAFE.has(method) && !headers.has("idempotency-key")) headers.set("idempotency-key", idempotencyKey);
    const request = {
      method,
      headers,
      signal,
      ...(hasBody && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    };
    const { response, bytes } = await send(fetch, target, request);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: readBody(bytes, response.headers),
    };
  },
});
