import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { newId } from "@/server/base/ids";
import { webhookPath } from "@/server/contract/webhook";

/** API calls with the status of the contract, to compare the handlers. */

export type Call = { method: string; path: string; headers: Record<string, string>; body?: string | Buffer };
export type Answer = { status: number; headers: Record<string, string>; text: string };

/** The setting of the calls: an agent, a tool that takes `toolInput`, and triggers, one of them signed. */
export type Setting = {
  key: string;
  agentId: string;
  toolId: string;
  toolInput: string;
  token: string;
  signedToken: string;
};

const JSON_TYPE = { "Content-Type": "application/json" };
const unknown = newId();
const gzip = { "Content-Encoding": "gzip" };

export const startAgent = ({ key, agentId }: Setting, parts: Partial<Call> = {}): Call => ({
  method: "POST",
  path: `/v1/agents/run/${agentId}`,
  body: '{"userMessage":"Hi"}',
  ...parts,
  headers: { ...JSON_TYPE, "X-API-Key": key, ...parts.headers },
});
export const startTool = (setting: Setting, parts: Partial<Call> = {}): Call =>
  startAgent(setting, { path: `/v1/tools/run/${setting.toolId}`, body: setting.toolInput, ...parts });
const read = ({ key }: Setting, path: string): Call => ({
  method: "GET",
  path,
  headers: { "X-API-Key": key },
});
export const hook = (token: string, parts: Partial<Call> = {}): Call => ({
  method: "POST",
  path: webhookPath(token),
  body: '{"order":1}',
  ...parts,
  headers: { ...JSON_TYPE, ...parts.headers },
});

/** The expected status, a description, and the call. */
export const CONTRACT_CALLS: [number, string, (setting: Setting) => Call][] = [
  [200, "a start of an agent", (setting) => startAgent(setting)],
  [200, "a start of a tool", (setting) => startTool(setting)],
  [400, "a body that is not JSON", (setting) => startTool(setting, { body: "{" })],
  [400, "a body without its required fields", (setting) => startAgent(setting, { body: "{}" })],
  [401, "a call without a key", (setting) => startAgent(setting, { headers: { "X-API-Key": "" } })],
  [404, "an unknown agent", (setting) => startAgent(setting, { path: `/v1/agents/run/${unknown}` })],
  [404, "an unknown path", (setting) => startAgent(setting, { path: "/v1/elsewhere" })],
  [404, "an unknown run", (setting) => read(setting, `/v1/agents/run/${unknown}/status`)],
  [400, "a malformed id", (setting) => read(setting, "/v1/agents/run/x/status")],
  [405, "another method", (setting) => ({ ...startAgent(setting), method: "DELETE" })],
  [
    413,
    "a body of more than 1 MiB",
    (setting) => startTool(setting, { body: `{"a":"${"x".repeat(1024 * 1024)}"}` }),
  ],
  [400, "a text", (setting) => startAgent(setting, { headers: { "Content-Type": "text/plain" } })],
  [
    415,
    "a compressed body",
    (setting) => startAgent(setting, { body: gzipSync('{"userMessage":"Hi"}'), headers: gzip }),
  ],
  [
    400,
    "an error as problem+json",
    (setting) => startTool(setting, { body: "{", headers: { Accept: "application/problem+json" } }),
  ],
  [200, "a webhook call", ({ token }) => hook(token)],
  [401, "a webhook call without its signature", ({ signedToken }) => hook(signedToken)],
  [404, "a webhook call with an unknown token", () => hook("unknown")],
  [405, "a webhook call of another method", ({ token }) => ({ ...hook(token), method: "PUT" })],
  [415, "a compressed webhook call", ({ token }) => hook(token, { body: gzipSync("{}"), headers: gzip })],
];

/** Paths similar to the API's: the contract's 404. */
export const ODD_PATHS = [
  "/v1",
  "/v1/",
  "/v1%2fagents/run/x",
  "/v1%2Ftools",
  "//v1/agents/run/x",
  "///v1",
  "/webhooks",
  "/webhooks/x/y",
  "//webhooks/x",
  "/webhooks%2fx",
  "/V1",
  "/V1/agents/run/x",
  "/%76%31/agents/run/x",
  "/%56%31%2Ftools",
  "/Webhooks/x",
  "/%77ebhooks/x",
];

const CONTRACT_HEADERS = [
  "content-type",
  "cache-control",
  "allow",
  "ratelimit-policy",
  "retry-after",
  "idempotent-replayed",
  "accept-encoding",
];

/** A response without what differs between calls: ids, remaining rate limits, connection headers. */
export function comparable({ status, headers, text }: Answer) {
  const compared = CONTRACT_HEADERS.map((name) => [name, headers[name]]);
  const body: unknown =
    text === ""
      ? ""
      : JSON.parse(text, (key, value: unknown) => (/^(id|runId|requestId)$/.test(key) ? "an id" : value));
  return {
    status,
    headers: Object.fromEntries(compared),
    hasRequestId: headers["x-request-id"] !== undefined,
    hasRateLimit: headers.ratelimit !== undefined,
    body,
  };
}

/** Sends a call with its path and headers unchanged; `chunked` omits its length. */
export function sendCall(
  origin: string,
  { method, path, headers, body }: Call,
  { chunked = false } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent =
      body === undefined || chunked ? headers : { ...headers, "Content-Length": Buffer.byteLength(body) };
    const outgoing = httpRequest({ hostname, port, method, path, headers: sent }, async (incoming) => {
      let text = "";
      for await (const chunk of incoming) text += String(chunk);
      const named = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
      resolve({ status: incoming.statusCode ?? 0, headers: Object.fromEntries(named), text });
    });
    outgoing.on("error", reject);
    if (chunked && body !== undefined) outgoing.write(body.slice(0, 1));
    outgoing.end(chunked ? body?.slice(1) : body);
  });
}
