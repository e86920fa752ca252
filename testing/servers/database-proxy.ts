import { connect, createServer, type Socket } from "node:net";
import { listen } from "./listen";

/**
 * Cuts the next request that contains a text, and `also` another one: `before` the server gets it, or `after` it
 * commits, so that only the response is lost. `thenReject` rejects new connections from then on.
 */
export type Cut = { request: string; also?: string; moment: "before" | "after"; thenReject?: boolean };

export type DatabaseProxy = Awaited<ReturnType<typeof openDatabaseProxy>>;

/** Opens a proxy to the database at `url`, whose connections can be cut at a chosen point. */
export async function openDatabaseProxy(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const doomed = new WeakSet<Socket>();
  let cuts: Cut[] = [];
  let rejected = false;
  let silent = false;
  let delayMs = 0;
  const server = createServer((near) => {
    if (rejected) return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    near.on("data", (data) => {
      const [next] = cuts;
      if (next && data.includes(next.request) && data.includes(next.also ?? "")) {
        cuts.shift();
        rejected ||= next.thenReject === true;
        if (next.moment === "before") return cut();
        doomed.add(far);
      }
      far.write(data);
    });
    far.on("data", (data) => {
      if (doomed.has(far)) return cut();
      if (delayMs === 0) near.write(data);
      else setTimeout(() => near.write(data), delayMs);
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      if (silent) socket.pause();
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const port = await listen(server);
  const near = new URL(target);
  near.hostname = "127.0.0.1";
  near.port = String(port);
  return {
    url: near.href,
    /** In this order; each cut waits for its request. Without arguments: no more cuts. */
    cut(...next: Cut[]) {
      cuts = next;
    },
    /** Loses the next response of each open connection, whose work has been committed. */
    cutAll() {
      for (const socket of sockets) doomed.add(socket);
    },
    reject(now: boolean) {
      rejected = now;
      if (now) for (const socket of sockets) socket.destroy();
    },
    /** No byte passes, and no connection closes, as if the network lost all packets. */
    silence(now: boolean) {
      silent = now;
      for (const socket of sockets) now ? socket.pause() : socket.resume();
    },
    /** Delays each response by `ms`. */
    delay(ms: number) {
      delayMs = ms;
    },
    left: () => cuts.length,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
