import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import net, { type LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { createGuardedConnect } from "@/server/guard/egress/guarded-connect";
import { createGuardedEgress } from "@/server/guard/egress/guarded-fetch";
import { createNameLookup } from "@/server/guard/egress/resolve-names";
import { createMailer } from "@/server/guard/mail/smtp";
import { executeFunction } from "@/server/work/functions/core/execute";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { testFunctionContext } from "@/testing/function-context";
import { closeServer, listen } from "@/testing/servers/listen";
import { startMailServer } from "@/testing/servers/mail-server";
import { type NameRecord, startNameServer } from "@/testing/servers/name-server";

const PUBLIC = "93.184.215.14";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

let opened: { public: number; other: string[] };
beforeEach(() => {
  opened = { public: 0, other: [] };
  reachPublicHere();
});

function reachPublicHere(): void {
  const { connect } = net;
  const reroute = (options: net.TcpNetConnectOpts): net.TcpNetConnectOpts => {
    const { lookup } = options;
    if (lookup === undefined) return options;
    const rerouted: LookupFunction = (name, wanted, callback) =>
      lookup(name, wanted, (error, found, family) => {
        if (error) return callback(error, found, family);
        const addresses = typeof found === "string" ? [{ address: found, family: family ?? 4 }] : found;
        const here = addresses.map((each) => {
          if (each.address !== PUBLIC) opened.other.push(each.address);
          else opened.public += 1;
          return each.address === PUBLIC ? { address: "127.0.0.1", family: 4 } : each;
        });
        if (typeof found === "string") callback(null, here[0]?.address ?? "", here[0]?.family);
        else callback(null, here);
      });
    return { ...options, lookup: rerouted };
  };
  Object.assign(net, { connect: (options: net.TcpNetConnectOpts) => connect(reroute(options)) });
  syncBuiltinESMExports();
  ends.push(() => {
    Object.assign(net, { connect });
    syncBuiltinESMExports();
  });
}

async function serve({ keepAlive = true } = {}) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (!keepAlive) response.setHeader("connection", "close");
    if (request.url === "/redirect") return void response.writeHead(307, { location: "/inside" }).end();
    if (request.url?.startsWith("/busy")) return void response.writeHead(503, { "retry-after": "0" }).end();
    if (request.url === "/reset") return void request.socket.destroy();
    response.setHeader("content-type", "application/json");
    if (request.url === "/page") return void response.end('{"next":"/inside"}');
    response.end("{}");
  });
  const port = await listen(server);
  ends.push(() => closeServer(server));
  return { port, asked };
}

async function resolveAs(...records: [NameRecord, ...NameRecord[]]) {
  const names = await startNameServer((name, before) =>
    name === "rebind.test" ? (records[before] ?? records.at(-1) ?? null) : null,
  );
  ends.push(names.close);
  return { nameServers: [names.address], asked: () => names.asked.get("rebind.test") ?? 0 };
}

const AWAY = { four: [PUBLIC] };
const REJECTED = "rebind.test is not a public address";

const INSIDE: [string, NameRecord][] = [
  ["loopback", { four: ["127.0.0.1"] }],
  ["a private network", { four: ["10.1.2.3"] }],
  ["a cloud's metadata", { four: ["169.254.169.254"] }],
  ["0.0.0.0", { four: ["0.0.0.0"] }],
  ["IPv6 loopback", { six: ["0:0:0:0:0:0:0:1"] }],
  ["an IPv6-mapped address", { six: ["0:0:0:0:0:ffff:7f00:1"] }],
  ["an IPv4-compatible address", { six: ["0:0:0:0:0:0:7f00:1"] }],
  ["NAT64", { six: ["64:ff9b:0:0:0:0:7f00:1"] }],
  ["6to4", { six: ["2002:7f00:1:0:0:0:0:1"] }],
  ["a unique local address", { six: ["fd00:0:0:0:0:0:0:1"] }],
  ["a public and a private address", { four: [PUBLIC, "127.0.0.1"] }],
  ["a public address, and loopback in IPv6", { four: [PUBLIC], six: ["0:0:0:0:0:0:0:1"] }],
  ["an alias of a private name", { four: ["127.0.0.1"], alias: "inside.test" }],
];

describe("http_request", () => {
  async function open(...records: [NameRecord, ...NameRecord[]]) {
    const { nameServers, asked } = await resolveAs(...records);
    const egress = createGuardedEgress({ nameServers });
    ends.push(egress.close);
    const call = (input: JsonObject) =>
      executeFunction("http_request", { input, context: testFunctionContext({ fetch: egress.fetch }) });
    return { call, asked };
  }

  test.each(INSIDE)("reaches nothing at %s", async (_what, record) => {
    const { call } = await open(record);
    const { port, asked } = await serve();
    await expect(call({ url: `http://rebind.test:${port}/` })).rejects.toThrow(REJECTED);
    expect([asked, opened]).toEqual([[], { public: 0, other: [] }]);
  });

  test.each(INSIDE)(
    "connects to what it checked, whatever the name is a moment later: %s",
    async (_what, record) => {
      const { call, asked } = await open(AWAY, record);
      const { port } = await serve({ keepAlive: false });
      const url = `http://rebind.test:${port}/`;
      expect(await call({ url })).toMatchObject({ status: 200 });
      expect([asked(), opened]).toEqual([1, { public: 1, other: [] }]);
      await expect(call({ url })).rejects.toThrow(REJECTED);
      expect([asked(), opened]).toEqual([2, { public: 1, other: [] }]);
    },
  );

  test("a kept connection stays with the address that was checked", async () => {
    const { call } = await open(AWAY, { four: ["127.0.0.1"] });
    const server = await serve();
    const url = `http://rebind.test:${server.port}/`;
    expect(await call({ url })).toMatchObject({ status: 200 });
    // The connection is free again a moment after its answer; until then, another one is rejected.
    await vi.waitFor(() => call({ url }));
    expect([server.asked.length, opened]).toEqual([2, { public: 1, other: [] }]);
  });

  test.each<[string, JsonObject, string[]]>([
    ["a redirect", { path: "/redirect" }, ["/redirect"]],
    ["a retry", { path: "/busy", retries: 2 }, ["/busy"]],
    ["a repetition after a closed connection", { path: "/reset" }, ["/reset"]],
    ["the next page", { path: "/page", next: "body.next" }, ["/page"]],
  ])("%s asks again, and is rejected", async (_what, { path, ...input }, expected) => {
    const { call } = await open(AWAY, { four: ["127.0.0.1"] });
    const { port, asked } = await serve({ keepAlive: false });
    await expect(call({ url: `http://rebind.test:${port}${path}`, ...input })).rejects.toThrow(REJECTED);
    expect([asked, opened]).toEqual([expected, { public: 1, other: [] }]);
  });

  test("a name with a trailing dot or in capitals is the same name", async () => {
    const { call } = await open({ four: ["127.0.0.1"] });
    const { port, asked } = await serve();
    for (const host of ["REBIND.test", "rebind.test.", "ｒｅｂｉｎｄ．test"])
      await expect(call({ url: `http://${host}:${port}/` })).rejects.toThrow(/is not a public address/);
    expect(asked).toEqual([]);
  });
});

test("a model provider of an organization, for its second attempt too", async () => {
  const { nameServers, asked } = await resolveAs(AWAY, { four: ["127.0.0.1"] });
  const egress = createGuardedEgress({ nameServers });
  ends.push(egress.close);
  const server = await serve({ keepAlive: false });
  const provider = createProvider({
    name: "own",
    baseUrl: `http://rebind.test:${server.port}/busy`,
    fetch: (url, init) => egress.fetch(url, { ...init, redirect: "manual" }),
    clock: testClock(),
    random: () => 1,
    sleep: async () => undefined,
    maxAttempts: 2,
  });
  const request = { model: "m", messages: [{ role: "user" as const, content: "hi" }], tools: [] };
  const call = provider.call({ ...request, maxOutputTokens: 100, signal: new AbortController().signal });
  await expect(call).rejects.toThrow(REJECTED);
  expect([asked(), opened, server.asked]).toEqual([2, { public: 1, other: [] }, ["/busy/chat/completions"]]);
});

test("send_email", async () => {
  const { nameServers, asked } = await resolveAs(AWAY, { four: ["127.0.0.1"] });
  const server = await startMailServer();
  ends.push(server.close);
  const sendMail = createMailer(
    {
      host: "rebind.test",
      port: server.port,
      secure: false,
      requireTls: false,
      user: undefined,
      password: undefined,
      from: "no-reply@stepwell.test",
    },
    createGuardedConnect({ lookup: createNameLookup(nameServers) }),
  );
  const send = () =>
    executeFunction("send_email", {
      input: { to: "bob@example.test", subject: "Hi", text: "Hello" },
      context: testFunctionContext({ sendMail }),
    });
  expect(await send()).toMatchObject({ rejected: [] });
  expect([asked(), opened]).toEqual([1, { public: 1, other: [] }]);
  await expect(send()).rejects.toThrow(REJECTED);
  expect([asked(), opened, server.messages.length]).toEqual([2, { public: 1, other: [] }, 1]);
});
