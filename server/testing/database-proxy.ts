import { connect, createServer } from "node:net";

/** A way to a database on which answers can be lost. */
export type DatabaseProxy = {
  url: string;
  /** From now on answers are dropped; what the database is asked, it does. */
  dropAnswers(): void;
  /** Breaks all connections; new ones work. */
  cut(): void;
  close(): Promise<void>;
};

/** Starts a proxy in front of the database that `databaseUrl` names, for `createWorld`. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const open = new Map<() => void, () => void>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      open.delete(end);
      client.destroy();
      upstream.destroy();
    };
    open.set(end, () => upstream.unpipe(client).resume());
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${address.port}`;
  const cut = () => {
    for (const end of open.keys()) end();
  };
  return {
    url: url.href,
    dropAnswers() {
      for (const drop of open.values()) drop();
    },
    cut,
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
