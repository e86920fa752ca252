import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { joinPostgres } from "../postgres/postgres.mjs";
import { runningCluster } from "../postgres/postgres-cluster.mjs";
import { childrenOf } from "../support/linux-processes";
import { listen } from "../support/ports.mjs";

export type Database = Awaited<ReturnType<typeof startDatabase>>;

/**
 * A PostgreSQL behind a TCP proxy: it can be killed, and its connections can be cut so that statements are committed
 * whose responses never arrive.
 */
export async function startDatabase(dataDir: string) {
  let joined = await joinPostgres(dataDir);
  const proxy = await startProxy(Number(new URL(joined.url).port));
  const url = new URL(joined.url);
  url.port = String(proxy.port);

  const query = async <Row extends pg.QueryResultRow>(
    sql: string,
    parameters: unknown[] = [],
  ): Promise<Row[]> => {
    for (let attempt = 0; ; attempt += 1) {
      const client = new pg.Client({ connectionString: joined.url });
      client.on("error", () => {});
      try {
        await client.connect();
        return (await client.query<Row>(sql, parameters)).rows;
      } catch (error) {
        if (attempt === 50) throw error;
        await sleep(200);
      } finally {
        await client.end().catch(() => {});
      }
    }
  };

  return {
    /** What the service connects to. */
    url: url.href,
    query,
    cutConnections: proxy.cut,

    /** Terminates the service's backends, as an administrator would. */
    async endBackends() {
      await query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stepwell'",
      );
    },

    /** Kills all of PostgreSQL's processes and starts it again. */
    async kill() {
      const running = runningCluster(joined.cluster);
      if (running) for (const pid of [running.pid, ...childrenOf(running.pid)]) killProcess(pid);
      await sleep(Math.random() * 2_000);
      joined = await joinPostgres(dataDir);
      proxy.forwardTo(Number(new URL(joined.url).port));
    },

    async stop() {
      proxy.close();
      await joined.leave();
    },
  };
}

export function killProcess(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** `target` is a port of this machine. */
async function startProxy(target: number) {
  const cuts = new Set<() => void>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    const end = () => {
      cuts.delete(cut);
      client.destroy();
      upstream.destroy();
    };
    // The responses are dropped first; the requests are executed.
    const cut = () => {
      upstream.unpipe(client).resume();
      setTimeout(end, 100);
    };
    cuts.add(cut);
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.pipe(upstream).pipe(client);
  });
  return {
    port: await listen(server),
    cut: () => {
      for (const cut of cuts) cut();
    },
    forwardTo(port: number) {
      target = port;
    },
    close: () => void server.close(),
  };
}
