import { createServer, type RequestListener, type Server } from "node:http";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { EgressError, rejectedCall } from "@/server/guard/egress/failures";
import { createGuardedEgress, type EgressOptions } from "@/server/guard/egress/guarded-fetch";
import type { EgressInit } from "@/server/guard/egress/outgoing-request";
import { createTrustedEgress, type Egress } from "@/server/guard/egress/trusted-fetch";
import { closeServer, listen } from "@/testing/servers/listen";

const servers: Server[] = [];
const egresses: Pick<Egress, "close">[] = [];

afterEach(async () => {
  await Promise.all(egresses.splice(0).map((egress) => egress.close()));
  for (const server of servers.splice(0)) {
    await closeServer(server);
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  const port = await listen(server);
  return `127.0.0.1:${port}`;
}

function open(options: EgressOptions = {}) {
  const egress = createGuardedEgress(options);
  egresses.push(egress);
  return egress.fetch;
}

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      }),
    );
  });
};

function resolver(...answers: string[][]) {
  const asked: string[] = [];
  const lookup: NonNullable<EgressOptions["lookup"]> = (hostname, options, callback) => {
    asked.push(hostname);
    const found = (answers[asked.length - 1] ?? answers.at(-1) ?? []).map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
    if (options.all) callback(null, found);
    else callback(null, found[0]?.address ?? "", found[0]?.family);
  };
  return { asked, lookup };
}

describe("rejects", () => {
  test.each([
    "http://127.0.0.1:1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://10.0.0.1:8080/",
    "http://[fd00:ec2::254]/",
    "http://0.0.0.0/",
    "http://localhost/",
    "https://127.0.0.1/",
  ])("%s as not public", async (address) => {
    await expect(open()(address)).rejects.toThrow(/is not a public address/);
  });

  test.each([
    ["file:///etc/passwd", /Only http and https/],
    ["ftp://x.test/", /Only http and https/],
    ["data:text/plain,x", /Only http and https/],
    ["http://ada:secret@x.test/", /user name or password/],
    ["nonsense", /is not an address/],
  ])("%s", async (address, message) => {
    await expect(open()(address)).rejects.toThrow(message);
  });

  test("a name with any private address, and never connects", async () => {
    let calls = 0;
    const host = await serve((_request, response) => {
      calls += 1;
      response.end();
    });
    const port = host.split(":")[1];
    const { lookup } = resolver(["1.1.1.1", "127.0.0.1"]);
    await expect(open({ lookup })(`http://mixed.test:${port}/`)).rejects.toThrow(
      "mixed.test is not a public address",
    );
    expect(calls).toBe(0);
  });

  test("a name that turns private after it was public: each connection is checked", async () => {
    const host = await serve((_request, response) => response.end("inside"));
    const port = host.split(":")[1];
    const { lookup, asked } = resolver(["203.0.113.1"], ["127.0.0.1"]);
    const fetch = open({ lookup });
    await expect(fetch(`http://rebind.test:${port}/`)).rejects.toThrow("is not a public address");
    await expect(fetch(`http://rebind.test:${port}/`)).rejects.toThrow("is not a public address");
    expect(asked).toEqual(["rebind.test", "rebind.test"]);
  });

  test("a redirect to a private address", async () => {
    const inside = await serve((_request, response) => response.end("secret"));
    const outside = await serve((_request, response) => {
      response.writeHead(302, { location: `http://${inside}/` }).end();
    });
    await expect(open({ allow: [outside] })(`http://${outside}/`)).rejects.toThrow(/is not a public address/);
  });

  test("a redirect to another scheme, or without end", async () => {
    const host = await serve((request, response) => {
      response.writeHead(302, { location: request.url === "/file" ? "file:///etc/passwd" : "/again" }).end();
    });
    const fetch = open({ allow: [host] });
    await expect(fetch(`http://${host}/file`)).rejects.toThrow(/Only http and https/);
    await expect(fetch(`http://${host}/`)).rejects.toThrow("redirects more than 5 times");
  });
});

describe("allows", () => {
  test("a listed host and port, by address or name, and no other port", async () => {
    const host = await serve(echo);
    const port = host.split(":")[1];
    const response = await open({ allow: [host] })(`http://${host}/a?b=c`, {
      method: "POST",
      body: '{"x":1}',
      headers: { "content-type": "application/json", "x-api-key": "k" },
    });
    expect(await response.json()).toMatchObject({
      method: "POST",
      url: "/a?b=c",
      body: '{"x":1}',
      headers: { "x-api-key": "k", "content-type": "application/json" },
    });
    const { lookup } = resolver(["127.0.0.1"]);
    const named = await open({ allow: [`Inside.test:${port}`], lookup })(`http://inside.test:${port}/`);
    expect(named.status).toBe(200);
    await expect(open({ allow: ["127.0.0.1:1"] })(`http://${host}/`)).rejects.toThrow(
      /is not a public address/,
    );
  });

  test("a rejection names the value for EGRESS_ALLOW", async () => {
    const { lookup } = resolver(["10.0.0.1"]);
    const messageFor = async (address: string) =>
      open({ lookup })(address).then(
        () => "",
        (error: unknown) => (error instanceof EgressError ? error.message : ""),
      );
    expect(await messageFor("http://127.0.0.1:8080/v1")).toMatch(
      /^127\.0\.0\.1 is not a public address; .* EGRESS_ALLOW=127\.0\.0\.1:8080$/,
    );
    expect(await messageFor("https://Inside.test/")).toMatch(
      /^inside\.test is not .* EGRESS_ALLOW=inside\.test:443$/,
    );
    expect(await messageFor("http://[::1]/")).toMatch(/ EGRESS_ALLOW=\[::1\]:80$/);
  });

  test("a host that no name server knows, with the way to one of the operator's own network", async () => {
    const lookup: EgressOptions["lookup"] = (_name, _options, callback) =>
      callback(Object.assign(new Error("not found"), { code: "ENOTFOUND" }), []);
    const failure = /^The call to erp failed: the host name is unknown\./;
    const call = open({ lookup })("https://erp/orders");
    await expect(call).rejects.toThrow(failure);
    await expect(call).rejects.toThrow(/ Check its spelling\. .* EGRESS_ALLOW=erp:443$/);
    const trusted = open({ lookup, allow: ["erp:443"] })("https://erp/orders");
    await expect(trusted).rejects.toThrow(/^The call to erp failed: the host name is unknown\.$/);
  });

  test("the operator's own addresses through the trusted egress", async () => {
    const host = await serve(echo);
    const egress = createTrustedEgress();
    egresses.push(egress);
    expect((await egress.fetch(`http://${host}/`)).status).toBe(200);
  });
});

describe("redirects", () => {
  test("keep method and body on 307, turn POST into GET on 302, and keep headers on the same origin", async () => {
    const host = await serve((request, response) => {
      if (request.url === "/307") response.writeHead(307, { location: "/to" }).end();
      else if (request.url === "/302") response.writeHead(302, { location: "/to" }).end();
      else echo(request, response);
    });
    const fetch = open({ allow: [host] });
    const init = {
      method: "POST",
      body: "hello",
      headers: { authorization: "Bearer a", "content-type": "text/plain" },
    };
    expect(await (await fetch(`http://${host}/307`, init)).json()).toMatchObject({
      method: "POST",
      body: "hello",
      headers: { authorization: "Bearer a" },
    });
    const got = await (await fetch(`http://${host}/302`, init)).json();
    expect(got).toMatchObject({ method: "GET", body: "", headers: { authorization: "Bearer a" } });
    expect(got.headers).not.toHaveProperty("content-type");
  });

  test("to an address in UTF-8 or Latin-1 (scrapy/scrapy#2321)", async () => {
    const locations: Record<string, Buffer> = {
      "/utf-8": Buffer.from("/straße/ж?q=ü"),
      "/latin-1": Buffer.from("/stra\xdfe", "latin1"),
    };
    const host = await serve((request, response) => {
      const location = locations[request.url ?? ""];
      if (location === undefined) return echo(request, response);
      const head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: ";
      request.socket.end(Buffer.concat([Buffer.from(head), location, Buffer.from("\r\n\r\n")]));
    });
    const fetch = open({ allow: [host] });
    const follow = async (path: string) => (await (await fetch(`http://${host}${path}`)).json()).url;
    expect(await follow("/utf-8")).toBe("/stra%C3%9Fe/%D0%B6?q=%C3%BC");
    expect(await follow("/latin-1")).toBe("/stra%C3%9Fe");
  });

  test("to another origin drop headers that may be secret", async () => {
    const other = await serve(echo);
    const host = await serve((_request, response) => {
      response.writeHead(307, { location: `http://${other}/` }).end();
    });
    const response = await open({ allow: [host, other] })(`http://${host}/`, {
      method: "POST",
      body: "hello",
      headers: {
        authorization: "Bearer a",
        cookie: "a=b",
        "x-api-key": "k",
        "x-custom": "c",
        accept: "text/x",
        "idempotency-key": "s-1",
      },
    });
    const { headers } = await response.json();
    expect(headers).toMatchObject({ accept: "text/x", "idempotency-key": "s-1" });
    for (const name of ["authorization", "cookie", "x-api-key", "x-custom"])
      expect(headers).not.toHaveProperty(name);
  });
});

test("a response may have any status (JakeChampion/fetch#1415)", async () => {
  const host = await serve((_request, response) => response.writeHead(999).end("denied"));
  const response = await open({ allow: [host] })(`http://${host}/`);
  expect([response.status, await response.text()]).toEqual([999, "denied"]);
});

describe("a compressed response", () => {
  const text = "Vierzehn Ameisen, ".repeat(2_000);
  const cut = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2));
  const read = async (encoding: string, body: Buffer) => {
    const host = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding, "content-length": body.length }).end(body);
    });
    const response = await open({ allow: [host] })(`http://${host}/`);
    return { encoding: response.headers.get("content-encoding"), text: await response.text() };
  };

  test.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["gzip", Buffer.concat([gzipSync(text.slice(0, 999)), gzipSync(text.slice(999))])],
    // apify/crawlee#266
    ["gzip", Buffer.concat([gzipSync(text), Buffer.from("<!-- served by x -->")])],
    ["gzip", Buffer.concat([gzipSync(text), Buffer.alloc(512)])],
    ["br", brotliCompressSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", Buffer.concat([brotliCompressSync(text), Buffer.alloc(512)])],
    ["deflate", Buffer.concat([deflateSync(text), Buffer.alloc(512)])],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
  ])("in %s is decoded", async (encoding, body) => {
    expect(await read(encoding, body)).toEqual({ encoding, text });
  });

  test.each([
    ["gzip", cut(gzipSync(text))],
    ["gzip", gzipSync(text).subarray(0, -1)],
    ["gzip", Buffer.concat([gzipSync(text), cut(gzipSync(text))])],
    ["gzip", Buffer.concat([gzipSync(text), Buffer.from([0x1f, 0x8b])])],
    ["br", cut(brotliCompressSync(text))],
    ["deflate", cut(deflateSync(text))],
  ])("in %s that ends early is an error (oven-sh/bun#34922)", async (encoding, body) => {
    await expect(read(encoding, body)).rejects.toThrow("The compressed response ends too early.");
  });

  test("may be empty, and may have an unknown coding", async () => {
    expect(await read("gzip", Buffer.alloc(0))).toEqual({ encoding: "gzip", text: "" });
    expect(await read("aws-chunked", Buffer.from("plain"))).toEqual({
      encoding: "aws-chunked",
      text: "plain",
    });
    await expect(read("gzip", Buffer.from("plain"))).rejects.toThrow("Could not decompress the response");
    const wrong = gzipSync(text);
    wrong.writeUInt32LE(1, wrong.length - 8);
    await expect(read("gzip", wrong)).rejects.toThrow("incorrect data check");
  });
});

describe("limits", () => {
  test("a response that is too large, decompressed size counting", async () => {
    const host = await serve((request, response) => {
      if (request.url === "/zip") {
        response.setHeader("content-encoding", "gzip");
        response.end(gzipSync(Buffer.alloc(5_000_000)));
      } else response.end(Buffer.alloc(request.url === "/fits" ? 1000 : 1001));
    });
    const fetch = open({ allow: [host], maxResponseBytes: 1000 });
    expect((await (await fetch(`http://${host}/fits`)).arrayBuffer()).byteLength).toBe(1000);
    const read = async (path: string) => (await fetch(`http://${host}${path}`)).text();
    await expect(read("/long")).rejects.toThrow("The response is larger than 1000 bytes.");
    await expect(read("/zip")).rejects.toThrow("The response is larger than 1000 bytes.");
  });

  test("a compressed response, also if its last decoder ignores most of it", async () => {
    const bomb = gzipSync(Buffer.concat([deflateSync(""), Buffer.alloc(5_000_000)]));
    const host = await serve((request, response) => {
      const codings = request.url === "/two" ? "deflate, gzip" : "deflate, gzip, gzip";
      response.setHeader("content-encoding", codings).end(request.url === "/two" ? bomb : gzipSync(bomb));
    });
    const fetch = open({ allow: [host], maxResponseBytes: 100_000 });
    const read = async (path: string) => (await fetch(`http://${host}${path}`)).text();
    await expect(read("/two")).rejects.toThrow("The response is larger than 100000 bytes.");
    await expect(read("/three")).rejects.toThrow("too many content-encodings: 3, at most 2 are decoded.");
  });

  test("a response that never comes or never ends", async () => {
    const host = await serve((request, response) => {
      if (request.url === "/drip") response.write("x");
    });
    const fetch = open({ allow: [host], timeoutMs: 1_000 });
    await expect(fetch(`http://${host}/`)).rejects.toThrow("took longer than 1000 ms");
    const response = await fetch(`http://${host}/drip`);
    await expect(response.text()).rejects.toThrow("took longer than 1000 ms");
  });

  test("the caller's signal ends the call with its reason", async () => {
    const host = await serve(() => undefined);
    const controller = new AbortController();
    const reason = new Error("cancelled by ada");
    const call = open({ allow: [host] })(`http://${host}/`, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await expect(call).rejects.toBe(reason);
  });
});

test("a repeatable request survives a connection that closes before the response", async () => {
  const asked: string[] = [];
  const host = await serve((request, response) => {
    const isFirst = !asked.includes(request.url ?? "");
    asked.push(request.url ?? "");
    if (isFirst) request.socket.destroy();
    else response.end("ok");
  });
  const fetch = open({ allow: [host] });
  const send = async (path: string, init: EgressInit = {}) =>
    (await fetch(`http://${host}${path}`, init)).text();
  expect(await send("/read")).toBe("ok");
  expect(await send("/once", { method: "POST", body: "x", isRepeatable: true })).toBe("ok");
  await expect(send("/bare", { method: "POST", body: "x" })).rejects.toThrow(/closed|reset/);
  expect(asked).toEqual(["/read", "/read", "/once", "/once", "/bare"]);
});

describe("a sender", () => {
  function stalled(onConfirm: () => void) {
    let confirms = 0;
    return {
      confirm: async () => {
        confirms += 1;
        if (confirms > 1) onConfirm();
      },
      isConfirmed: () => confirms > 1,
    };
  }

  test("that was stalled before its request was written is asked again, and sends once", async () => {
    let asked = 0;
    const host = await serve((_request, response) => {
      asked += 1;
      response.end("ok");
    });
    const response = await open({ allow: [host] })(
      `http://${host}/`,
      { method: "POST", body: "x" },
      stalled(() => expect(asked).toBe(0)),
    );
    expect(await response.text()).toBe("ok");
    expect(asked).toBe(1);
  });

  test("that stalls until the body is read is asked again, and sends once", async () => {
    let asked = 0;
    const host = await serve((_request, response) => {
      asked += 1;
      response.end("ok");
    });
    let confirms = 0;
    let asks = 0;
    const sender = {
      confirm: async () => {
        confirms += 1;
        expect(asked).toBe(0);
      },
      isConfirmed: () => {
        asks += 1;
        return asks !== 2;
      },
    };
    const response = await open({ allow: [host] })(`http://${host}/`, { method: "POST", body: "x" }, sender);
    expect(await response.text()).toBe("ok");
    expect({ asked, confirms, asks }).toEqual({ asked: 1, confirms: 2, asks: 4 });
  });

  test("that was replaced meanwhile sends nothing, over a kept connection neither", async () => {
    const asked: string[] = [];
    const host = await serve((request, response) => {
      asked.push(request.url ?? "");
      response.end("ok");
    });
    const fetch = open({ allow: [host] });
    expect(await (await fetch(`http://${host}/before`)).text()).toBe("ok");
    const sender = stalled(() => {
      throw new Error("The worker was replaced.");
    });
    await expect(fetch(`http://${host}/late`, {}, sender)).rejects.toThrow("The worker was replaced.");
    expect(asked).toEqual(["/before"]);
  });

  test("is asked again before a request that a closing connection did not answer is repeated", async () => {
    let asked = 0;
    let confirms = 0;
    const host = await serve((request) => {
      asked += 1;
      request.socket.destroy();
    });
    const sender = {
      confirm: async () => {
        confirms += 1;
        if (confirms > 1) throw new Error("The worker was replaced.");
      },
      isConfirmed: () => true,
    };
    await expect(open({ allow: [host] })(`http://${host}/`, {}, sender)).rejects.toThrow(
      "The worker was replaced.",
    );
    expect(asked).toBe(1);
  });
});

test("describes network errors in words", async () => {
  const host = await serve((_request, response) => response.socket?.destroy());
  const closed = await serve(() => undefined);
  const server = servers.pop();
  await new Promise((done) => server?.close(done));
  const fetch = open({ allow: [host, closed] });
  await expect(fetch(`http://${closed}/`)).rejects.toThrow(
    `The call to ${closed} failed: the connection was refused.`,
  );
  await expect(fetch(`http://${host}/`)).rejects.toThrow(EgressError);
  await expect(open({ allow: ["127.0.0.1:6000"] })("http://127.0.0.1:6000/")).rejects.toThrow(
    rejectedCall(
      "The call to 127.0.0.1:6000 is not allowed: fetch blocks its port, because another protocol such as email uses it.",
    ),
  );
});
