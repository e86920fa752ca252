import { z } from "zod";
import type { Issue } from "@/server/base/errors";
import { anyJson } from "@/server/base/json/any-json";
import { isJsonObject, type JsonObject } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";
import { formatLimit } from "@/server/contract/sizes";
import { EgressError } from "@/server/guard/egress/failures";
import { EGRESS_LIMITS } from "@/server/guard/egress/outgoing-request";
import { evaluateExpression } from "@/server/work/expressions/jsonata";
import { defineFunction, FunctionError, failAs } from "@/server/work/functions/core/define";
import {
  IDEMPOTENT_METHODS,
  readResponse,
  sendWithRetries,
} from "@/server/work/functions/http-request/exchange";
import {
  MAX_PAGES,
  MAX_PAGES_BYTES,
  pageInputs,
  readPages,
} from "@/server/work/functions/http-request/pages";
import {
  addQuery,
  bodyInputs,
  MAX_REQUEST_BYTES,
  makeBody,
  parametersByName,
} from "@/server/work/functions/http-request/request-body";
import { describeIssues } from "@/server/work/json-schema/schema-issues";

const UNSAFE = new Set(["POST", "PUT", "PATCH", "DELETE"]);
// Set by the HTTP client. A wrong length would make the server wait for the rest (request/request#2156).
const OWN_HEADERS: ReadonlyMap<string, string> = new Map([
  ["host", "cannot be set: the host is that of the address"],
  ...["content-length", "transfer-encoding"].map(
    (name) => [name, "cannot be set: the body decides it"] as const,
  ),
  ...["expect", "keep-alive", "upgrade"].map(
    (name) => [name, "cannot be set: the connection decides it"] as const,
  ),
]);

/** One outbound HTTP call, or with `next` one for each page of a list. Any status is a result. */
export const httpRequest = defineFunction({
  name: "http_request",
  title: "HTTP request",
  description:
    "Calls a public HTTP or HTTPS address and returns its status, headers and body (parsed if it is JSON). " +
    "Any HTTP status is a result. It can follow the pages of a list.",
  input: z.object({
    url: z.string().min(1).max(16_384).describe("The full address, starting with http:// or https://."),
    method: z
      .enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      .optional()
      .describe("Default: GET."),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        "Request headers. Host and Content-Length cannot be set: they follow from the address and the body.",
      ),
    query: parametersByName.optional().describe("Query parameters to add to the address."),
    ...bodyInputs,
    basicAuth: z
      .strictObject({ username: z.string().max(10_000), password: z.string().max(10_000) })
      .optional()
      .describe('Sends {"username", "password"} as Basic credentials.'),
    retries: z
      .int()
      .min(0)
      .max(5)
      .optional()
      .describe(
        "How often to repeat the request after a network failure or status 429, 502, 503 or 504. " +
          "Only for GET, HEAD, OPTIONS, PUT and DELETE. Default: 0.",
      ),
    ...pageInputs,
  }),
  output: z
    .object({
      status: z.int().describe("The HTTP status."),
      headers: z
        .record(z.string(), z.union([z.string(), z.array(z.string())]))
        .describe("The response's headers; names are in lower case. set-cookie is a list."),
      body: anyJson.describe(
        'Parsed if it is JSON, else text; binary data as {"base64": "…", "bytes": N}. With next: a list of the ' +
          "pages' bodies, or of all items. The output then also has pages (how many were read) and hasMore.",
      ),
      note: z
        .string()
        .optional()
        .describe("Only if a redirect changed the request to GET, so that its body was not sent."),
    })
    .catchall(anyJson),
  errors: {
    call_failed: "The server cannot be reached, or the response is too large or redirects too often.",
    call_rejected:
      "The address is not public and not in EGRESS_ALLOW. Or its scheme is not http or https, or the host is not " +
      "among the allowed hosts of a secret. The call is not retried.",
    invalid_request:
      "The address, a header or the body is invalid, or the method does not allow the input. The call is not retried.",
    page_failed:
      "A page after the first has a status other than 2xx or is on another origin, or next finds no text.",
    secret_rejected: "A secret has expired, has no value or cannot be used in this input.",
  },
  limits: [
    `each response: ${EGRESS_LIMITS.timeoutMs / 1000} seconds, ${formatLimit(EGRESS_LIMITS.responseBytes)} decompressed`,
    `a request's body: ${formatLimit(MAX_REQUEST_BYTES)}`,
    "5 redirects",
    `${MAX_PAGES} pages, ${formatLimit(MAX_PAGES_BYTES)} together`,
  ],
  hasSideEffects: true,
  timeoutMs: EGRESS_LIMITS.timeoutMs,
  secretFields: ["url", "headers", "query", "body", "form", "multipart", "basicAuth"],
  addressFields: ["url"],
  parsedFields: { next: "expression", items: "expression" },
  findIssues,
  example: {
    input: { url: "https://api.example.com/stock", query: { sku: "A-1" } },
    output: {
      status: 200,
      headers: { "content-type": "application/json" },
      body: { sku: "A-1", inStock: 4 },
    },
  },
  async run(
    input,
    { fetch, redact, signal, clock, idempotencyKey, traceParent, organizationId, memory, note },
  ) {
    const { method = "GET", retries = 0, basicAuth, next } = input;
    if (!URL.canParse(input.url))
      throw new FunctionError("invalid_request", `"${input.url.slice(0, 200)}" is not a URL.`);
    const target = new URL(input.url);
    addQuery(target, input.query ?? {});
    const { body, form, multipart, base64 } = input;
    const content = makeBody({ body, form, multipart, base64 });
    if (content !== undefined && (method === "GET" || method === "HEAD"))
      throw new FunctionError("invalid_request", `A ${method} request cannot have a body.`);
    const issues = findIssues({ method, retries, headers: input.headers ?? {}, next: next ?? null });
    if (issues.length > 0) throw new FunctionError("invalid_request", `${describeIssues(issues)}.`);
    const headers = makeHeaders(input.headers ?? {});
    // Only the encoder has the boundary of the parts.
    if (content !== undefined && (multipart !== undefined || !headers.has("content-type")))
      headers.set("content-type", content.type);
    // Many servers ignore a key that their callers did not ask for.
    const isRepeatable = headers.has("idempotency-key");
    if (UNSAFE.has(method) && !isRepeatable) headers.set("idempotency-key", idempotencyKey);
    if (traceParent !== null && !headers.has("traceparent")) headers.set("traceparent", traceParent);
    const dropped: string[] = [];
    const init = {
      method,
      headers,
      signal,
      isRepeatable,
      ...(content && { body: content.content }),
      ...(basicAuth && { basicAuth }),
      onBodyDropped: (status: number) => {
        const text =
          `The server answered the ${method} request with the redirect ${status}, so it was repeated as GET, without ` +
          "its body. Call the address that the server redirects to.";
        dropped.splice(0, 1, text);
        note(text);
      },
    };
    const request = (url: URL) =>
      sendWithRetries(() => fetch(url, init), { retries, clock, signal })
        .then((response) => readResponse(response, { redact, memory }))
        .catch(failAs(EgressError, ({ kind }) => (kind === "rejected" ? "call_rejected" : "call_failed")));
    if (next === undefined) {
      const response = await request(target);
      const [text] = dropped;
      // People see the step's note; models and workflows only the output.
      return text === undefined ? response : { ...response, note: text };
    }
    const facts = { now: clock.now(), seed: idempotencyKey, organizationId, signal, memory, note };
    return readPages(target, input, {
      request,
      redact,
      evaluate: async (expression, page) => evaluateExpression(expression, await redact(page), facts),
    });
  },
});

function findIssues({ method = "GET", headers, retries, next }: JsonObject): Issue[] {
  const issues = Object.keys(isJsonObject(headers) ? headers : {}).flatMap((name) => {
    const message = OWN_HEADERS.get(name.toLowerCase());
    return message === undefined ? [] : [{ path: jsonPointer(["headers", name]), message }];
  });
  if (typeof method !== "string" || method.includes("{{")) return issues;
  if (typeof retries === "number" && retries > 0 && !IDEMPOTENT_METHODS.has(method))
    issues.push({ path: "/retries", message: `is not for ${method}: it might do something twice` });
  if (typeof next === "string" && method !== "GET")
    issues.push({ path: "/next", message: "is only for GET" });
  return issues;
}

function makeHeaders(given: Record<string, string>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      // Fetch takes bytes as Latin-1.
      headers.set(name, Buffer.from(value, "utf8").toString("latin1"));
    } catch {
      const issue = `The header "${name.slice(0, 100)}" has a name or value that cannot be sent.`;
      throw new FunctionError("invalid_request", issue);
    }
  }
  return headers;
}
