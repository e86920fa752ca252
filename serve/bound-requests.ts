import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Bounds how long one packet occupies the process. Node parses all that has arrived in one go: up to 1,800 short
 * requests, or 10,000 chunks of a body.
 */

/** Of one connection, waiting for earlier responses. */
const MAX_WAITING = 64;

/** Passes a server's requests on to its present listeners: those of a connection one after the other. */
export function boundRequests(server: Server): void {
  const listeners = server.listeners("request");
  server.removeAllListeners("request");
  const waitingOf = new WeakMap<Socket, (() => void)[]>();
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    // Node passes on what it has parsed of a closed connection.
    if (socket.destroyed) return;
    joinChunks(incoming);
    const handle = () => {
      if (socket.destroyed) return;
      outgoing.once("close", () => {
        const next = waitingOf.get(socket)?.shift();
        if (next === undefined) waitingOf.delete(socket);
        // Other connections have their turn first.
        else setImmediate(next);
      });
      for (const listener of listeners) Reflect.apply(listener, server, [incoming, outgoing]);
    };
    const waiting = waitingOf.get(socket);
    if (waiting === undefined) {
      waitingOf.set(socket, []);
      handle();
    } else if (waiting.length < MAX_WAITING) waiting.push(handle);
    else socket.destroy();
  });
}

/** Each chunk costs its readers some microseconds and an object. */
function joinChunks(incoming: IncomingMessage): void {
  if (incoming.headers["transfer-encoding"] === undefined) return;
  const push = incoming.push.bind(incoming);
  let chunks: Uint8Array[] = [];
  let wantsMore = true;
  const flush = () => {
    if (chunks.length > 0) wantsMore = push(Buffer.concat(chunks));
    chunks = [];
  };
  incoming.push = (chunk: unknown) => {
    if (!(chunk instanceof Uint8Array)) {
      flush();
      return push(chunk);
    }
    if (chunks.push(chunk) === 1) setImmediate(flush);
    return wantsMore;
  };
}
