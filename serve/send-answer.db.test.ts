import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { STALLED_READER_MS } from "@/server/api/http/node-http";
import { MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { createProcess, type TestProcess } from "@/testing/process";
import { insertRun } from "@/testing/runs";
import { closeServer, listen } from "@/testing/servers/listen";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";
import { createHandler, rejectBadHttp } from "./requests";

const STEPS = 16;

let world: World;
let services: TestProcess;
let server: Server;
let port: number;

beforeAll(async () => {
  world = await createWorld();
  services = createProcess(world);
  // 80 MiB are for unread answers, half of them for one organization.
  services.memory = new ProcessMemory({ limit: 640 * MIB, used: () => 0 });
  server = createServer(createHandler(services, { showPage: null, dev: false, state: { stopping: false } }));
  rejectBadHttp(server);
  port = await listen(server);
});
afterAll(async () => {
  await closeServer(server);
  await services.stop();
  await world.close();
});

async function insertLargeRun(tenant: Tenant): Promise<string> {
  const runId = await insertRun(world, tenant, { kind: "agent", steps: STEPS });
  const output = JSON.stringify("x".repeat(MIB));
  await world.db.step.updateMany({ where: { runId }, data: { output } });
  return `/v1/agents/run/${runId}`;
}

/** Sends a GET and reads only the start of the answer. */
async function ask(
  path: string,
  { key }: Tenant,
): Promise<{ status: string; client: Socket; served: Socket }> {
  const accepted = once(server, "connection");
  const client = connect(port, "127.0.0.1");
  client.on("error", () => {});
  onTestFinished(() => void client.destroy());
  const [served] = await accepted;
  client.write(`GET ${path} HTTP/1.1\r\nHost: h\r\nX-API-Key: ${key}\r\n\r\n`);
  await once(client, "readable");
  return { status: String(client.read(12)).slice(-3), client, served };
}

it("large answers that are not read are bounded by organization, and end with their connections", async () => {
  const [stalled, other] = [await createTenant(world), await createTenant(world)];
  const run = await insertLargeRun(stalled);
  const unread = [await ask(`${run}/details`, stalled), await ask(`${run}/details`, stalled)];
  expect(unread.map(({ status }) => status)).toEqual(["200", "200"]);
  expect((await ask(`${run}/details`, stalled)).status).toBe("429");
  expect((await ask(`${run}/status`, stalled)).status).toBe("200");
  expect((await ask(`${await insertLargeRun(other)}/details`, other)).status).toBe("200");

  for (const { client, served } of unread) {
    expect(served.timeout).toBe(STALLED_READER_MS);
    const closed = once(client.resume(), "close");
    served.emit("timeout");
    await closed;
  }
  expect((await ask(`${run}/details`, stalled)).status).toBe("200");
});
