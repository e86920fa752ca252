import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { listen } from "./listen";

/** A server that writes what it likes to its connections. */
export type HostileServer = {
  host: string;
  port: number;
  connections(): number;
  closed(): Promise<number>;
  close(): Promise<void>;
};
/** Gets the path and the head of an HTTP request. */
export type HostileAnswer = (socket: Socket, path: string, head: string) => unknown;

/** Starts it on loopback. With `speaksFirst`, `answer` is called when a connection opens, else for each HTTP request. */
export async function startHostileServer(
  answer: HostileAnswer,
  { speaksFirst = false } = {},
): Promise<HostileServer> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    // Clients break off: that is what the tests wait for.
    socket.on("error", () => undefined);
    if (speaksFirst) void answer(socket, "", "");
    let head = "";
    socket.on("data", (chunk) => {
      head += chunk.toString("latin1");
      if (speaksFirst || !head.includes("\r\n\r\n")) return;
      const request = head;
      head = "";
      void answer(socket, /^\S+ (\S+)/.exec(request)?.[1] ?? "", request);
    });
  });
  const port = await listen(server);
  return {
    host: `127.0.0.1:${port}`,
    port,
    connections: () => sockets.length,
    async closed() {
      const open = sockets.filter((socket) => !socket.destroyed);
      await Promise.all(open.map((socket) => once(socket, "close").catch(() => undefined)));
      return Math.max(0, ...sockets.map((socket) => socket.bytesWritten));
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Writes a head, then the same piece until the client breaks off. */
export async function writeForever(socket: Socket, head: string, piece: string): Promise<void> {
  socket.write(head);
  function* pieces(): Generator<string> {
    for (;;) yield piece;
  }
  await pipeline(Readable.from(pieces(), { highWaterMark: 1 }), socket).catch(() => undefined);
}

/** Writes a head, then one piece every 10 ms until the client breaks off. */
export function drip(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), 10);
  socket.on("close", () => clearInterval(timer));
}
