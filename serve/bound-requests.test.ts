import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { MIB } from "@/server/contract/sizes";
import { closeServer, listen } from "@/testing/servers/listen";
import { boundRequests } from "./bound-requests";

async function connectTo(listener: RequestListener): Promise<Socket> {
  const server = createServer(listener);
  boundRequests(server);
  const socket = connect(await listen(server), "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
    return closeServer(server);
  });
  await once(socket, "connect");
  return socket;
}

const request = (path: string | number) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function readUntil(socket: Socket, text: string): Promise<string> {
  let received = "";
  for await (const chunk of socket) {
    received += String(chunk);
    if (received.includes(text)) break;
  }
  return received;
}

test("requests that arrive in one packet are answered one after the other", async () => {
  let busy = 0;
  let mostBusy = 0;
  const socket = await connectTo((incoming, outgoing) => {
    busy += 1;
    mostBusy = Math.max(mostBusy, busy);
    setImmediate(() => {
      busy -= 1;
      outgoing.end(`at ${incoming.url};`);
    });
  });
  const paths = Array.from({ length: 40 }, (_, n) => n);
  socket.write(paths.map(request).join(""));
  const received = await readUntil(socket, "at /39;");
  expect(received.match(/at \/\d+;/g)).toEqual(paths.map((n) => `at /${n};`));
  expect(mostBusy).toBe(1);
});

test("a connection with too many waiting requests is closed, and none of them is handled", async () => {
  let handled = 0;
  const socket = await connectTo(() => {
    handled += 1;
  });
  socket.write(request("a").repeat(1_000));
  await once(socket.resume(), "close");
  expect(handled).toBe(1);
});

const chunked = (text: string, count: number) =>
  `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${`${text.length.toString(16)}\r\n${text}\r\n`.repeat(count)}0\r\n\r\n`;

test("small chunks of a body reach its reader joined", async () => {
  const socket = await connectTo((incoming, outgoing) => {
    let chunks = 0;
    let text = "";
    incoming.on("data", (chunk) => {
      chunks += 1;
      text += String(chunk);
    });
    incoming.on("end", () => outgoing.end(`${text === "ab".repeat(20_000)}, ${chunks < 1_000};`));
  });
  socket.write(chunked("ab", 20_000));
  expect(await readUntil(socket, ";")).toContain("true, true;");
});

async function readSlowly(incoming: IncomingMessage) {
  const seen = { bytes: 0, buffered: 0 };
  for await (const chunk of incoming) {
    seen.bytes += Buffer.from(chunk).length;
    seen.buffered = Math.max(seen.buffered, incoming.readableLength);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return seen;
}

test("a body in chunks does not arrive faster than it is read", async () => {
  const socket = await connectTo(async (incoming, outgoing) => {
    const { bytes, buffered } = await readSlowly(incoming);
    outgoing.end(`${bytes} bytes, ${buffered < MIB};`);
  });
  socket.write(chunked("a".repeat(1_000), 16_000));
  expect(await readUntil(socket, ";")).toContain("16000000 bytes, true;");
});
