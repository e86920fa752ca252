import { createServer } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorld, type World } from "@/server/testing/world";
import { startOnServer } from "./driver";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

it("takes calls from a server only with its signature", async () => {
  const settings = { dev: undefined, baseUrl: "http://127.0.0.1:1", eventKey: "e", signingKey: "0123abcd" };
  const driver = await startOnServer(world, settings);
  try {
    const call = (headers: Record<string, string> = {}) => {
      const url = "http://stepwell.test/api/inngest?fnId=stepwell-agent-run-v1&stepId=step";
      return driver.handle?.(
        new Request(url, { method: "POST", body: "{}", headers: { host: "stepwell.test", ...headers } }),
      );
    };
    expect((await call())?.status).toBe(401);
    const forged = { "x-inngest-signature": `t=${Math.floor(Date.now() / 1000)}&s=${"0".repeat(64)}` };
    expect((await call(forged))?.status).toBe(401);
  } finally {
    await driver.stop();
  }
});

it("registers its functions with an Inngest server at start, and from then on", async () => {
  const registrations: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      if (request.url?.startsWith("/fn/register")) registrations.push(body);
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ ok: true, modified: true, status: 200 }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const dev = `http://127.0.0.1:${port}`;
  const settings = { dev, baseUrl: undefined, eventKey: undefined, signingKey: undefined };
  const driver = await startOnServer(world, settings, { refused: 50, taken: 50 });
  try {
    await expect.poll(() => driver.ready(), { timeout: 10_000 }).toBe(true);
    // It may forget them: it is told again and again.
    await expect.poll(() => registrations.length, { timeout: 10_000 }).toBeGreaterThan(2);
    expect(registrations[0]).toContain(`${world.env.appUrl}/api/inngest`);
    expect(registrations[0]).toContain("stepwell-agent-run");
  } finally {
    await driver.stop();
    server.close();
  }
});
