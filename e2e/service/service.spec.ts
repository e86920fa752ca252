import { createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { expect, test } from "../support/fixtures";

test("an agent is started over REST and polled to its end", async ({ request, organization }) => {
  const headers = { "X-API-Key": organization.apiKey };
  const started = await request.post(`/v1/agents/run/${organization.agentId}`, {
    headers,
    data: { userMessage: "What is 6 * 7?" },
  });
  expect(started.status()).toBe(200);
  const { id } = await started.json();
  const readStatus = async () => (await request.get(`/v1/agents/run/${id}/status`, { headers })).json();
  await expect.poll(async () => (await readStatus()).status).toBe("Completed");
  expect(await readStatus()).toMatchObject({ id, errorMessage: null, finalOutput: expect.any(String) });
});

test("a signed webhook starts a tool, a wrongly signed one is rejected", async ({
  request,
  organization,
}) => {
  const url = organization.triggers.doubles ?? "";
  const data = Buffer.from('{"number":21}');
  const send = (key: string) => {
    const signature = createHmac("sha256", key).update(data).digest("hex");
    return request.post(url, {
      data,
      headers: { "Content-Type": "application/json", "X-Signature": signature },
    });
  };

  const rejected = await send("another secret");
  expect(rejected.status()).toBe(401);
  expect(await rejected.json()).toMatchObject({ success: false, code: "invalid_signature" });

  const accepted = await send(organization.signingSecret);
  expect(accepted.status()).toBe(200);
  const answer = await accepted.json();
  expect(answer).toEqual({ success: true, runId: expect.any(String), type: "tool" });
  const headers = { "X-API-Key": organization.apiKey };
  const readResult = async () =>
    (await request.get(`/v1/tools/run/${answer.runId}/result`, { headers })).json();
  await expect.poll(async () => (await readResult()).status).toBe("Completed");
  expect(await readResult()).toMatchObject({ inputData: '{"number":21}', outputData: '{"doubled":42}' });
});

test("paths that Next cannot parse get the contract's answers", async ({ request, baseURL }) => {
  const malformed = await request.get("/v1/agents/run/%zz/status");
  expect(malformed.status()).toBe(401);
  expect(malformed.headers()["x-request-id"]).toBeTruthy();

  const { hostname, port } = new URL(baseURL ?? "");
  const exchange = async (lines: string[]) => {
    const socket = connect(Number(port), hostname);
    socket.write([...lines, "Host: x", "Connection: close", "", ""].join("\r\n"));
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    return text;
  };
  const traced = await exchange(["TRACE /v1/agents/run/x/status HTTP/1.1"]);
  expect(traced).toMatch(/^HTTP\/1.1 405 [\s\S]*\r\nallow: GET\r\n[\s\S]*"code":"method_not_allowed"/i);
  const expecting = await exchange([
    "POST /v1/agents/run/x HTTP/1.1",
    "Expect: miracles",
    "Content-Length: 0",
  ]);
  expect(expecting).toMatch(/^HTTP\/1.1 417 [\s\S]*"code":"invalid_request"/);
  const tunnel = await exchange(["CONNECT elsewhere.test:443 HTTP/1.1"]);
  expect(tunnel).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"invalid_request"/);
});

test("a body far beyond the limit gets an answer", async ({ baseURL, organization }) => {
  const answer = await fetch(`${baseURL}/v1/agents/run/${organization.agentId}`, {
    method: "POST",
    headers: { "X-API-Key": organization.apiKey, "Content-Type": "application/json" },
    body: Buffer.alloc(20 * 1024 * 1024, "a"),
  });
  expect(answer.status).toBe(413);
});

test("pages have a strict content security policy and do not violate it", async ({ page, organization }) => {
  const violations: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") violations.push(message.text());
  });
  const answer = await page.goto("/sign-in");
  const policy = answer?.headers()["content-security-policy"] ?? "";
  expect(policy).toMatch(/script-src 'nonce-[^']+' 'strict-dynamic';/);
  expect(policy).not.toContain("unsafe");
  await page.getByLabel("Email").fill(organization.owner.email);
  await page.getByLabel("Password").fill(organization.owner.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect(violations).toEqual([]);
});

test("a client that offers HTTP/2 is answered in HTTP/1.1, also after a page was loaded", async ({
  request,
  baseURL,
}) => {
  expect((await request.get("/sign-in")).status()).toBe(200);
  const { hostname, port } = new URL(baseURL ?? "");
  const status = await new Promise((resolve, reject) => {
    const headers = { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "AAMAAABk" };
    httpRequest({ hostname, port, path: "/v1/agents/run/x/status", headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on("error", reject)
      .end();
  });
  expect(status).toBe(401);
});

test("health and readiness report a running service", async ({ request }) => {
  const health = await request.get("/api/health");
  expect([health.status(), await health.json()]).toEqual([200, { alive: true }]);
  const ready = await request.get("/api/ready");
  expect(await ready.json()).toEqual({ ready: true, database: "ok", engine: "ok" });
});
