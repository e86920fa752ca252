import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { MODEL_APIS } from "@/server/base/models/model-api";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { closeServer, listen } from "@/testing/servers/listen";
import { modelRequest } from "@/testing/servers/model-server";

/** Vendors' packages read environment variables. None of them may reach a provider. */

const LEAK = "leak-7f3a";
const VARIABLES = [
  "ORG_ID",
  "ORGANIZATION_ID",
  "PROJECT_ID",
  "API_KEY",
  "ADMIN_KEY",
  "AUTH_TOKEN",
  "IDENTITY_TOKEN",
  "WEBHOOK_SECRET",
  "WEBHOOK_SIGNING_KEY",
  "WORKSPACE_ID",
  "PROFILE",
  "SCOPE",
  "BETAS",
];

const egress = createTrustedEgress();
let server: Server;
let address: string;
let requests: { text: string; headers: string[] }[] = [];
beforeAll(async () => {
  for (const vendor of ["OPENAI", "ANTHROPIC"]) {
    for (const name of VARIABLES) vi.stubEnv(`${vendor}_${name}`, LEAK);
    vi.stubEnv(`${vendor}_BASE_URL`, `http://127.0.0.1:9/${LEAK}`);
    vi.stubEnv(
      `${vendor}_CUSTOM_HEADERS`,
      `x-proxy-secret: ${LEAK}\nAuthorization: Bearer ${LEAK}\nx-api-key: ${LEAK}\nanthropic-version: ${LEAK}`,
    );
  }
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = [request.url, ...request.rawHeaders, Buffer.concat(chunks).toString()].join("\n");
    requests.push({ text, headers: Object.keys(request.headers).sort() });
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"error":{"message":"no"}}');
  });
  address = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await egress.close();
  await closeServer(server);
});

const BASIC = [
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "host",
  "user-agent",
];
const cases = MODEL_APIS.flatMap((api) => [true, false].map((isStreamed) => ({ api, isStreamed })));

test.each(cases)("nothing of the environment is sent over $api, streamed: $isStreamed", async (shape) => {
  const { api, isStreamed } = shape;
  const own = api === "anthropic" ? ["anthropic-version", "x-api-key"] : ["authorization"];
  for (const apiKey of ["sk-own", undefined]) {
    requests = [];
    const provider = createProvider({
      name: "test",
      api,
      apiKey,
      baseUrl: address,
      fetch: egress.fetch,
      clock: testClock(),
      random: () => 1,
      sleep: async () => {},
    });
    const request = modelRequest("hi", isStreamed ? { onText: () => undefined } : {});
    await expect(provider.call(request)).rejects.toThrow("answered 401");
    expect(requests).toHaveLength(1);
    expect(requests[0]?.text).not.toContain(LEAK);
    expect(requests[0]?.text).toContain(apiKey ?? "none");
    expect(requests[0]?.headers).toEqual([...BASIC, ...own].sort());
  }
});
