import { expect, it } from "vitest";
import { KIB, MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { respondToDashboard } from "./respond";

// An organization's bodies have 48 MiB, and each counts twice.
const memory = new ProcessMemory({ limit: 768 * MIB, used: () => 0 });
const world = { ...(await openWorld()), memory };

async function startCall(tenant: Tenant, bytes: number) {
  let send = () => {};
  let isRead = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (stream) => {
        isRead = true;
        return new Promise<void>((resolve) => {
          send = () => {
            stream.enqueue(Buffer.from(JSON.stringify({ yaml: "slug: a" })));
            stream.close();
            resolve();
          };
        });
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": "application/json", "content-length": String(bytes) };
  const url = "http://stepwell.test/api/trpc/definitions.checkTool";
  const init = { method: "POST", headers, body, duplex: "half" };
  const request = new Request(url, init);
  const actor = await createMember(world, tenant, "member");
  const response = respondToDashboard(world, request, { actor, sessionId: undefined });
  return { response, isRead: () => isRead, send: () => send() };
}

it("waits with an organization's bodies while they leave no memory, and reads short ones always", async () => {
  const [flooding, calm] = [await createTenant(world), await createTenant(world)];
  const calls: Awaited<ReturnType<typeof startCall>>[] = [];
  for (let call = 0; call < 6; call += 1) calls.push(await startCall(flooding, 6 * MIB));
  const read = () => calls.filter(({ isRead }) => isRead()).length;
  await expect.poll(read).toBe(4);
  calls.push(await startCall(flooding, 16 * KIB), await startCall(calm, 6 * MIB));
  await expect.poll(read).toBe(6);
  for (const { isRead, send, response } of calls) {
    await expect.poll(isRead).toBe(true);
    send();
    expect((await response).status).toBe(200);
  }
});
