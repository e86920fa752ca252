import { createSocket } from "node:dgram";
import { createServer, type RequestListener } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { createGuardedEgress, type EgressOptions } from "@/server/egress/guarded-fetch";
import { createNameLookup } from "@/server/egress/resolve-names";
import { closeServer, listen } from "@/testing/servers/listen";

/** The calls of one organization leave those of others alone. */

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

/** A name server that has only these names, and never answers for those below `dead.test`. */
async function serveNames(known: Record<string, { four?: string }>) {
  const socket = createSocket("udp4");
  const asked = new Set<string>();
  socket.on("message", (message, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join(".");
    asked.add(name);
    if (name.endsWith("dead.test")) return;
    const { four } = known[name] ?? {};
    const isFour = message.readUInt16BE(at + 1) === 1;
    const answers = isFour && four !== undefined ? [four] : [];
    const header = Buffer.alloc(12);
    header.writeUInt16BE(message.readUInt16BE(0), 0);
    header.writeUInt16BE(name in known ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    const records = answers.map((each) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...each.split(".").map(Number)]),
    );
    socket.send(Buffer.concat([header, message.subarray(12, at + 5), ...records]), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  ends.push(() => new Promise<void>((closed) => socket.close(closed)));
  return { server: `127.0.0.1:${socket.address().port}`, asked };
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
  const names = await serveNames({ "private.test": { four: "10.0.0.1" } });
  const fetch = open({ nameServers: [names.server] });
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
  const names = await serveNames({ "public.test": { four: "203.0.113.7" } });
  const lookup = createNameLookup([names.server]);
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
  expect([...names.asked].sort()).toEqual(["missing.test", "public.test"]);
});
