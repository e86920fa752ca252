import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { EgressError } from "@/server/guard/egress/failures";
import {
  createTrustedEgress,
  readChunks,
  type TrustedEgressOptions,
} from "@/server/guard/egress/trusted-fetch";
import { closeServer, listen } from "@/testing/servers/listen";

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function serve(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  const port = await listen(server);
  endings.push(() => closeServer(server));
  return { server, url: `http://127.0.0.1:${port}/v1?a=b` };
}

function open(options: TrustedEgressOptions = {}) {
  const egress = createTrustedEgress(options);
  endings.push(egress.close);
  return egress.fetch;
}

test("sends method, path, headers and text, and keeps its connections alive", async () => {
  let connections = 0;
  const { server, url } = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { method, headers, url: path } = request;
      response.setHeader("content-type", "application/json");
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.end(
        JSON.stringify({ method, path, key: headers.authorization, body: Buffer.concat(chunks).toString() }),
      );
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  const fetch = open();
  for (let i = 0; i < 6; i += 1) {
    const response = await fetch(url, {
      method: "POST",
      body: "héllo",
      headers: { authorization: "Bearer a" },
    });
    expect(response).toMatchObject({ ok: true, status: 200, bodyUsed: false, redirected: false });
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.json()).toEqual({
      method: "POST",
      path: "/v1?a=b",
      key: "Bearer a",
      body: "héllo",
    });
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow("read already");
  }
  // A connection is free again a moment after its answer has ended.
  expect(connections).toBeLessThanOrEqual(2);
});

test("is a Response: all ways of reading give the same bytes", async () => {
  const { url } = await serve((_request, response) => {
    response.setHeader("content-type", "application/x-www-form-urlencoded");
    response.end("a=b");
  });
  const fetch = open();
  const bytes = new TextEncoder().encode("a=b");
  expect(await (await fetch(url)).text()).toBe("a=b");
  expect(await (await fetch(url)).bytes()).toEqual(bytes);
  expect(new Uint8Array(await (await fetch(url)).arrayBuffer())).toEqual(bytes);
  expect(await (await (await fetch(url)).blob()).text()).toBe("a=b");
  expect((await (await fetch(url)).formData()).get("a")).toBe("b");
  expect(await new Response((await fetch(url)).body).text()).toBe("a=b");
  const chunks: Uint8Array[] = [];
  await readChunks(await fetch(url), (chunk) => chunks.push(chunk));
  expect(Buffer.concat(chunks).toString()).toBe("a=b");
});

test("a call that ended before its body is read fails with the reason", async () => {
  const { url } = await serve((_request, response) => void response.write("x"));
  const fetch = open();
  for (const read of [
    (response: Response) => response.text(),
    (response: Response) => readChunks(response, () => true),
  ]) {
    const stop = new AbortController();
    const response = await fetch(url, { signal: stop.signal });
    const reason = new Error("cancelled by ada");
    stop.abort(reason);
    for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    await expect(read(response)).rejects.toBe(reason);
  }
});

test("a reader that waits gets the next chunk, the end or the failure afterwards", async () => {
  let goOn = () => {};
  const { url } = await serve((request, response) => {
    if (request.method === "PUT") {
      goOn();
      response.end();
      return;
    }
    response.write("a");
    goOn = () => void (request.method === "POST" ? response.destroy() : response.end("b"));
  });
  const fetch = open();
  const read = async (method: string) => {
    const seen: string[] = [];
    await readChunks(await fetch(url, { method }), async (chunk) => {
      seen.push(Buffer.from(chunk).toString());
      if (seen.length === 1) await (await fetch(url, { method: "PUT" })).text();
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      seen.push("done");
    }).catch(() => seen.push("failed"));
    return seen;
  };
  expect(await read("GET")).toEqual(["a", "done", "b", "done"]);
  expect(await read("POST")).toEqual(["a", "done", "failed"]);
});

test("if a reader has enough or fails, its connection ends", async () => {
  const closed: Promise<unknown>[] = [];
  const { url } = await serve((_request, response) => {
    closed.push(once(response, "close"));
    response.write("a");
  });
  const fetch = open();
  await readChunks(await fetch(url), () => false);
  const failure = new Error("not JSON");
  const reading = readChunks(await fetch(url), () => {
    throw failure;
  });
  await expect(reading).rejects.toBe(failure);
  const later = readChunks(await fetch(url), () => Promise.reject(failure));
  await expect(later).rejects.toBe(failure);
  expect(closed).toHaveLength(3);
  await Promise.all(closed);
});

test("returns a redirect instead of following it with the key", async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(307, { location: "http://elsewhere.test/" }).end();
  });
  const response = await open()(url, { method: "POST", body: "{}" });
  expect(response).toMatchObject({ ok: false, status: 307 });
  expect(response.headers.get("location")).toBe("http://elsewhere.test/");
});

describe("limits", () => {
  test("a body that is too large, read at once or by chunks", async () => {
    const { url } = await serve((_request, response) => void response.end(Buffer.alloc(1001)));
    const fetch = open({ maxBodyBytes: 1000, maxStreamBytes: 1000 });
    await expect((await fetch(url)).text()).rejects.toThrow("larger than 1000 bytes");
    await expect(new Response((await fetch(url)).body).text()).rejects.toThrow("larger than 1000 bytes");
  });

  test("a body that is compressed although this is not accepted", async () => {
    const { url } = await serve((request, response) => {
      expect(request.headers["accept-encoding"]).toBe("identity");
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(Buffer.alloc(5_000_000)));
    });
    await expect((await open()(url)).text()).rejects.toThrow("compressed (gzip)");
  });

  test("a server that stays silent, before its headers or in the middle of its body", async () => {
    const { url } = await serve((request, response) => {
      if (request.method === "POST") response.write("x");
    });
    const fetch = open({ silenceMs: 50 });
    await expect(fetch(url)).rejects.toThrow("no response in time");
    await expect((await fetch(url, { method: "POST" })).text()).rejects.toThrow("the response stopped");
  });

  test("the caller's signal ends a call with its reason, before the headers and after", async () => {
    const { url } = await serve((request, response) => {
      if (request.method === "POST") response.write("x");
    });
    const fetch = open();
    const reason = new Error("cancelled by ada");
    const first = new AbortController();
    const waiting = fetch(url, { signal: first.signal });
    first.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    const second = new AbortController();
    const response = await fetch(url, { method: "POST", signal: second.signal });
    const reading = response.text();
    second.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });
});

test("describes network errors in words", async () => {
  const { url } = await serve((_request, response) => response.socket?.destroy());
  await expect(open()(url)).rejects.toThrow(EgressError);
  await expect(open()("http://127.0.0.1:1/")).rejects.toThrow("the connection was refused");
});
