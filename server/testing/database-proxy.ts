import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A line to a database that can be cut at a chosen moment. */
export type DatabaseProxy = {
  url: string;
  /**
   * Cuts the connections of the next requests that contain one of `texts`: before the server gets them, or after it has
   * answered and committed, so that only the answer is lost.
   */
  cut(texts: string[], moments: ("before" | "after")[]): void;
  /** While true, no connection is possible. */
  refuse(refused: boolean): void;
  /** How many cuts are still to come. */
  left(): number;
  close(): Promise<void>;
};

/** Opens one to the database at `url`. */
export async function openDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let wanted: string[] = [];
  let moments: ("before" | "after")[] = [];
  let refused = false;
  const server = createServer((near) => {
    if (refused) return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    let isCut = false;
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    near.on("data", (data) => {
      if (moments.length > 0 && wanted.some((text) => data.includes(text))) {
        const moment = moments.shift();
        if (moment === "before") return cut();
        isCut = true;
      }
      far.write(data);
    });
    far.on("data", (data) => {
      if (isCut) return cut();
      near.write(data);
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
  const near = new URL(target);
  near.hostname = "127.0.0.1";
  near.port = String(address.port);
  return {
    url: near.href,
    cut(texts, when) {
      wanted = texts;
      moments = when;
    },
    refuse(now) {
      refused = now;
      if (now) for (const socket of sockets) socket.destroy();
    },
    left: () => moments.length,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
