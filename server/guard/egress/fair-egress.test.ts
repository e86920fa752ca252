import { createServer, type RequestListener } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { KIB, MIB } from "@/server/contract/sizes";
import { createGuardedEgress, type EgressOptions } from "@/server/guard/egress/guarded-fetch";
import { createNameLookup } from "@/server/guard/egress/resolve-names";
import { ProcessMemory, type StepMemory } from "@/server/guard/limits/process-memory";
import { closeServer, listen } from "@/testing/servers/listen";
import { type NameRecord, startNameServer } from "@/testing/servers/name-server";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const port = await listen(server);
  ends.push(() => closeServer(server));
  return `127.0.0.1:${port}`;
}

function open(options: EgressOptions) {
  const egress = createGuardedEgress(options);
  ends.push(() => egress.close());
  return egress.fetch;
}

async function serveNames(known: Record<string, NameRecord>) {
  const server = await startNameServer((name) =>
    name.endsWith("dead.test") ? "silence" : (known[name] ?? null),
  );
  ends.push(server.close);
  return server;
}

test("an organization's open calls do not hold the connections of another", async () => {
  let waiting = 0;
  const host = await serve((request, response) => {
    if (request.url === "/quick") return void response.end("quick");
    waiting += 1;
  });
  const fetch = open({ allow: [host] });
  const release = new AbortController();
  const held = Array.from({ length: 80 }, () =>
    fetch(`http://${host}/held`, { signal: release.signal, organizationId: "a" }).catch(() => null),
  );
  await vi.waitFor(() => expect(waiting).toBe(64), { timeout: 10_000 });
  const response = await fetch(`http://${host}/quick`, { organizationId: "b" });
  expect(await response.text()).toBe("quick");
  expect(waiting).toBe(64);
  release.abort();
  await Promise.all(held);
});

test("names that no server answers do not stop the lookup of others", async () => {
  const names = await serveNames({ "private.test": { four: ["10.0.0.1"] } });
  const fetch = open({ nameServers: [names.address] });
  const release = new AbortController();
  const held = Array.from({ length: 40 }, (_, n) =>
    fetch(`http://n${n}.dead.test/`, { signal: release.signal, organizationId: "a" }).catch(() => null),
  );
  await vi.waitFor(() => expect(names.asked.size).toBe(40), { timeout: 10_000 });
  await expect(fetch("http://private.test/", { organizationId: "b" })).rejects.toThrow(
    /private\.test is not a public address/,
  );
  await expect(fetch("http://missing.test/", { organizationId: "b" })).rejects.toThrow(/name is unknown/);
  release.abort();
  await Promise.all(held);
});

test("names are resolved in both families or one, and reserved names are not asked for", async () => {
  const names = await serveNames({ "public.test": { four: ["203.0.113.7"] } });
  const lookup = createNameLookup([names.address]);
  const resolve = (name: string, options: { all?: boolean; family?: number }) =>
    new Promise<unknown>((done) =>
      lookup(name, options, (error, address, family) => done(error ? error.code : { address, family })),
    );
  const found = { address: "203.0.113.7", family: 4 };
  expect(await resolve("public.test", { all: true })).toEqual({ address: [found], family: undefined });
  expect(await resolve("public.test", {})).toEqual(found);
  expect(await resolve("public.test", { family: 6 })).toBe("ENOTFOUND");
  expect(await resolve("missing.test", { all: true })).toBe("ENOTFOUND");
  expect(await resolve("a.localhost", {})).toEqual({ address: "127.0.0.1", family: 4 });
  expect(await resolve("a.invalid", {})).toBe("ENOTFOUND");
  expect([...names.asked.keys()].sort()).toEqual(["missing.test", "public.test"]);
});

test("large responses are read when there is memory for them, small ones at once", async () => {
  const host = await serve((request, response) =>
    response.end(Buffer.alloc(request.url === "/large" ? 4 * MIB : 40 * KIB)),
  );
  const fetch = open({ allow: [host] });
  // 12 MiB are for responses, half of them for one organization: one response at a time, since it counts six times.
  const memory = new ProcessMemory({ limit: 96 * MIB, used: () => 90 * MIB });
  const read: StepMemory[] = [];
  let asked = 0;
  const get = async (path: string) => {
    const step = memory.openRun("a").openStep();
    const holdResponse = (bytes: number) => {
      asked += 1;
      return step.holdResponse(bytes);
    };
    const response = await fetch(`http://${host}${path}`, { organizationId: "a", holdResponse });
    await response.arrayBuffer();
    read.push(step);
  };
  const gets = Array.from({ length: 3 }, () => get("/large"));
  for (let count = 1; count <= 3; count += 1) {
    await vi.waitFor(() => expect([asked, read.length]).toEqual([3, count]), { timeout: 10_000 });
    await get("/small");
    expect(read.length).toBe(count + 1);
    read.splice(count, 1);
    if (count === 2) read[1]?.releaseBodies();
    else read[count - 1]?.release();
  }
  await Promise.all(gets);
});
