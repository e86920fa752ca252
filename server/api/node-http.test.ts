import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { pipeline, Readable } from "node:stream";
import { afterEach, expect, it } from "vitest";
import { PEER_ADDRESS_HEADER } from "./client-address";
import {
  cutStalledReader,
  sendWebResponse,
  targetOf,
  toWebRequest,
  UnspeakableRequestError,
} from "./node-http";

const ORIGIN = "https://stepwell.test";
let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

/** Serves with `handle`, sends `text` on a bare socket and gives all that comes back until the end. */
async function exchange(
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>,
  ...texts: string[]
): Promise<string> {
  server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: unknown) => {
      outgoing.statusCode = error instanceof UnspeakableRequestError ? 400 : 500;
      outgoing.end(String(error));
    });
  });
  const socket = connect(await listen(), "127.0.0.1");
  for (const text of texts) socket.write(text);
  let received = "";
  for await (const chunk of socket) {
    received += String(chunk);
    if (/\r\n\r\n[\s\S]*END/.test(received)) break;
  }
  socket.destroy();
  return received;
}

const tell = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  const request = toWebRequest(incoming, targetOf(incoming, ORIGIN));
  const told = {
    method: request.method,
    url: request.url,
    peer: request.headers.get(PEER_ADDRESS_HEADER),
    body: await request.text(),
  };
  await sendWebResponse(outgoing, new Response(`${JSON.stringify(told)}END`), { "X-Extra": "yes" });
};

it.each([
  ["/v1/%zz/%2F?q=%", "/v1/%zz/%2F?q=%"],
  ["//elsewhere.test/v1", "//elsewhere.test/v1"],
  ["http://elsewhere.test/v1?x", "/v1?x"],
  ["/v1/a/../b", "/v1/b"],
])("keeps the path of %s, under our own origin", async (target, expected) => {
  const answer = await exchange(tell, `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`);
  expect(answer).toContain(JSON.stringify(`${ORIGIN}${expected}`));
});

it("tells the peer's address, whatever the client says it is", async () => {
  const answer = await exchange(
    tell,
    `POST /v1 HTTP/1.1\r\nHost: h\r\n${PEER_ADDRESS_HEADER}: 6.6.6.6\r\nContent-Length: 2\r\n\r\nhi`,
  );
  expect(answer).toContain('"peer":"127.0.0.1","body":"hi"');
  expect(answer).toMatch(/x-extra: yes/i);
});

it("refuses what no Web Request can say: OPTIONS *", async () => {
  const answer = await exchange(tell, "OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

it("hands TRACE on as OPTIONS, so that a door refuses it as a wrong method", async () => {
  const answer = await exchange(tell, "TRACE /v1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  expect(answer).toContain('"method":"OPTIONS"');
});

it("gives the body as it comes, and the answer before all of it was sent", async () => {
  const answer = await exchange(
    async (incoming, outgoing) => {
      const reader = toWebRequest(incoming, targetOf(incoming, ORIGIN)).body?.getReader();
      const first = await reader?.read();
      await reader?.cancel();
      await sendWebResponse(outgoing, new Response(`${first?.value?.byteLength}END`, { status: 413 }), {});
    },
    "POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n",
    "x".repeat(10),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toMatch(/\r\n10END$/);
});

it("fails the reading of a body whose sender goes away", async () => {
  const failed = new Promise<unknown>((resolve) => {
    server = createServer((incoming) => {
      const request = toWebRequest(incoming, targetOf(incoming, ORIGIN));
      request.text().then(resolve, resolve);
      socket.destroy();
    });
  });
  const socket = connect(await listen(), "127.0.0.1");
  socket.write("POST /v1 HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");
  expect(await failed).toBeInstanceOf(Error);
});

/** The port that `server` listens on from now on. */
async function listen(): Promise<number> {
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const address = server?.address();
  if (typeof address !== "object" || address === null) throw new Error("It does not listen on a port.");
  return address.port;
}

it("cuts the connection of a reader that takes nothing more, and ends what is read for it", async () => {
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
  const socket = connect(await listen(), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  await once(socket, "readable");
  // From here on it takes nothing; what fits into the buffers between is sent.
  expect(await ended).toBe("ERR_STREAM_PREMATURE_CLOSE");
  socket.destroy();
});

it("waits for an answer that is long in coming", async () => {
  const answer = await exchange(async (_incoming, outgoing) => {
    cutStalledReader(outgoing, 50);
    await once(outgoing, "timeout");
    outgoing.write("at last ");
    // Of what was written nothing waits for its reader.
    await once(outgoing, "timeout");
    outgoing.end("END");
  }, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  expect(answer).toContain("at last");
  expect(answer).toContain("END");
});
