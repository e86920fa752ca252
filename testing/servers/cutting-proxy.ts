import { connect, createServer, type Socket } from "node:net";
import { listen } from "./listen";

/** A proxy to `origin` that cuts each connection after `bytes` bytes of the server. */
export async function openCuttingProxy(origin: string, bytes: number) {
  const target = new URL(origin);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = connect(Number(target.port), target.hostname);
    let left = bytes;
    near.on("data", (data) => far.write(data));
    far.on("data", (data) => {
      if (left <= 0) return;
      const part = data.subarray(0, left);
      left -= part.length;
      near.write(part, () => left <= 0 && near.destroy());
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
  const url = `http://127.0.0.1:${await listen(server)}`;
  return {
    url,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
