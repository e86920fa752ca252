import { createServer } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorld, type World } from "@/server/testing/world";
import { startOnServer } from "./driver";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

it("registers its functions with an Inngest server at start", async () => {
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
  const driver = await startOnServer(world, settings);
  try {
    await expect.poll(() => driver.ready(), { timeout: 10_000 }).toBe(true);
    expect(registrations).toHaveLength(1);
    expect(registrations[0]).toContain(`${world.env.appUrl}/api/inngest`);
    expect(registrations[0]).toContain("stepwell-agent-run");
  } finally {
    await driver.stop();
    server.close();
  }
});
