import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { pipeline, Readable } from "node:stream";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { closeServer, listen } from "@/testing/servers/listen";
import { type ApiRequest, drainRequest, fromNode, sendToNode } from "./api-request";
import { PEER_ADDRESS_HEADER } from "./client-address";
import { cutStalledReader, InvalidTargetError, rejectTunnel, targetOf } from "./node-http";
import { toAppError } from "./respond";

const ORIGIN = "https://stepwell.test";
let server: Server;
afterEach(() => closeServer(server));

async function exchange(
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>,
  ...texts: string[]
): Promise<string> {
  server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: unknown) => {
      outgoing.statusCode = error instanceof InvalidTargetError ? 400 : 500;
      outgoing.end(String(error));
    });
  });
  const socket = connect(await listen(server), "127.0.0.1");
  for (const text of texts) socket.write(text);
  let received = "";
  for await (const chunk of socket) {
    received += String(chunk);
    if (/\r\n\r\n[\s\S]*END/.test(received)) break;
  }
  socket.destroy();
  return received;
}

const LIMIT = 1024 * 1024;

const read = (incoming: IncomingMessage): ApiRequest =>
  fromNode(incoming, targetOf(incoming, ORIGIN).pathname);

const echo = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  const call = read(incoming);
  const seen = {
    method: call.method,
    path: call.path,
    query: call.query,
    peer: call.peer,
    body: (await call.readBody(LIMIT)).toString(),
  };
  sendToNode(outgoing, { status: 200, headers: {}, body: `${JSON.stringify(seen)}END` }, ["X-Extra", "yes"]);
};

const rejectBody = (limit: number) => async (incoming: IncomingMessage, outgoing: ServerResponse) => {
  const error = await read(incoming)
    .readBody(limit)
    .then(() => null, toAppError);
  const { status = 200, headers = {}, code = "none", message = "" } = error ?? {};
  sendToNode(outgoing, { status, headers, body: `${code} ${message} END` }, []);
  drainRequest(incoming);
};

it.each([
  ["/v1/%zz/%2F?q=%", "/v1/%zz/%2F"],
  ["//elsewhere.test/v1", "//elsewhere.test/v1"],
  ["/v1%2fagents", "/v1%2fagents"],
  ["http://elsewhere.test/v1?x", "/v1"],
  ["/v1/a/../b", "/v1/b"],
])("keeps the path of %s, whatever host it names", async (target, expected) => {
  const answer = await exchange(echo, `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`);
  expect(answer).toContain(`"path":${JSON.stringify(expected)}`);
});

it.each([
  ["/v1/runs?a=%2F&b=?#c", "a=%2F&b=?"],
  ["/v1/runs#?a", ""],
  ["http://elsewhere.test/v1?x=1", "x=1"],
  ["/v1/runs", ""],
])("keeps the query of %s", async (target, expected) => {
  const answer = await exchange(echo, `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`);
  expect(answer).toContain(`"query":${JSON.stringify(expected)}`);
});

it("returns the peer's address, whatever the client claims", async () => {
  const answer = await exchange(
    echo,
    `POST /v1 HTTP/1.1\r\nHost: h\r\n${PEER_ADDRESS_HEADER}: 6.6.6.6\r\nContent-Length: 2\r\n\r\nhi`,
  );
  expect(answer).toContain('"peer":"127.0.0.1","body":"hi"');
  expect(answer).toMatch(/x-extra: yes/i);
});

it("aborts the signal of a call when its sender leaves, with one listener for a connection", async () => {
  const signals: AbortSignal[] = [];
  const listeners: number[] = [];
  const keep = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    signals.push(read(incoming).signal);
    listeners.push(incoming.socket.listenerCount("close"));
    sendToNode(outgoing, { status: 200, headers: {}, body: signals.length === 3 ? "END" : "" }, []);
  };
  const request = "GET /v1 HTTP/1.1\r\nHost: h\r\n\r\n";
  await exchange(keep, request, request, request);
  expect([signals.length, new Set(signals).size, new Set(listeners).size]).toEqual([3, 1, 1]);
  await expect.poll(() => signals[0]?.aborted).toBe(true);
});

it("rejects a target that is not a path: OPTIONS *", async () => {
  const answer = await exchange(echo, "OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

it("passes TRACE on, so that a handler rejects it as a wrong method", async () => {
  const answer = await exchange(echo, "TRACE /v1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  expect(answer).toContain('"method":"TRACE"');
});

it("answers a body beyond its limit before all of it was sent", async () => {
  const answer = await exchange(
    rejectBody(9),
    "POST /v1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a\r\n0123456789\r\n",
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain("payload_too_large The body is larger than 9 bytes.");
});

it("answers a body whose length is beyond its limit without reading it", async () => {
  const answer = await exchange(
    rejectBody(9),
    "POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n",
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

it.each(["gzip", "br, identity", "x".repeat(200)])("rejects a body in the encoding %s", async (encoding) => {
  const answer = await exchange(
    rejectBody(LIMIT),
    `POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Encoding: ${encoding}\r\nContent-Length: 2\r\n\r\nhi`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 415 /);
  expect(answer).toMatch(/accept-encoding: identity/i);
  expect(answer).toContain("The header Content-Encoding must not be set");
});

it("reads a body whose encoding is identity", async () => {
  const text = "POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Encoding: Identity\r\nContent-Length: 2\r\n\r\nhi";
  expect(await exchange(echo, text)).toContain('"body":"hi"');
});

it("does not treat a disconnected sender as an error of the service", async () => {
  const failed = new Promise<unknown>((resolve) => {
    server = createServer((incoming) => {
      read(incoming).readBody(LIMIT).then(resolve, resolve);
      socket.destroy();
    });
  });
  const socket = connect(await listen(server), "127.0.0.1");
  socket.write("POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");
  expect(await failed).toMatchObject({
    code: "invalid_request",
    message: "The body ended before it was complete.",
  });
});

it("does not wait for the body of a sender that disconnected before it was read", async () => {
  const failed = new Promise<unknown>((resolve) => {
    server = createServer((incoming) => {
      const call = read(incoming);
      incoming.once("close", () => call.readBody(LIMIT).then(resolve, resolve));
      socket.destroy();
    });
  });
  const socket = connect(await listen(server), "127.0.0.1");
  socket.write("POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");
  expect(await failed).toMatchObject({ code: "invalid_request" });
});

it("sends nothing to a disconnected client", async () => {
  const gone = new Promise<ServerResponse>((resolve) => {
    server = createServer((incoming, outgoing) => {
      outgoing.once("close", () => resolve(outgoing));
      incoming.destroy();
    });
  });
  const socket = connect(await listen(server), "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /v1 HTTP/1.1\r\nHost: h\r\n\r\n");
  const outgoing = await gone;
  sendToNode(outgoing, { status: 200, headers: {}, body: "late" }, []);
  expect(outgoing.headersSent).toBe(false);
});

it("disconnects a stalled reader and ends its query", async () => {
  const ended = new Promise<string>((resolve) => {
    server = createServer((_incoming, outgoing) => {
      cutStalledReader(outgoing, 100);
      const endless = Readable.from(
        (function* () {
          for (;;) yield Buffer.alloc(1024 * 1024);
        })(),
      );
      pipeline(endless, outgoing, (error) => resolve(error?.code ?? "whole"));
    });
  });
  const socket = connect(await listen(server), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  await once(socket, "readable");
  // From here on it reads nothing, and only what fits into the buffers is sent.
  expect(await ended).toBe("ERR_STREAM_PREMATURE_CLOSE");
  socket.destroy();
});

it("asks for no more events before the reader takes those that were sent", async () => {
  let asked = 0;
  const events = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        asked += 1;
        controller.enqueue(new Uint8Array(64 * 1024 * 1024));
      },
    },
    { highWaterMark: 0 },
  );
  server = createServer((_incoming, outgoing) => {
    sendToNode(outgoing, { status: 200, headers: {}, body: "", events }, []);
  });
  const socket = connect(await listen(server), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  while (!String(socket.read() ?? "").includes("\0")) await once(socket, "readable");
  expect(asked).toBe(1);
  socket.destroy();
});

it("waits for a slow answer", async () => {
  const answer = await exchange(async (_incoming, outgoing) => {
    cutStalledReader(outgoing, 50);
    await once(outgoing, "timeout");
    outgoing.write("at last ");
    // None of the written data is waiting.
    await once(outgoing, "timeout");
    outgoing.end("END");
  }, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  expect(answer).toContain("at last");
  expect(answer).toContain("END");
});

it.each(["breaks off", "stays"])("CONNECT is rejected, also when the client %s", async (what) => {
  const server = createServer().on("connect", rejectTunnel).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const accepted = once(server, "connection");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const client = connect({ port: port ?? 0, host: "127.0.0.1", allowHalfOpen: true });
  client.on("error", () => {});
  onTestFinished(() => void client.destroy());
  const answer = once(client, "data");
  client.write("CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n");
  const [socket] = await accepted;
  const closed = once(socket, "close");
  expect(String((await answer)[0])).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"invalid_request"/);
  if (what === "breaks off") client.resetAndDestroy();
  await closed;
});
