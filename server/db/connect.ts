import pg from "pg";

/** Milliseconds that the database may take before a caller hears of a fault; published in docs/operating.md. */
export type Timeouts = {
  /** For a connection: a new one, or one from the pool. */
  connection: number;
  /** For one statement, waiting for locks included; the server ends it. */
  statement: number;
  /** Between two statements of a transaction: a process that froze in one must not keep its locks. The server ends it. */
  idleInTransaction: number;
  /** Without a byte from a server that was asked: it is frozen, or the network lost it. Longer than `statement`. */
  silence: number;
};
export const TIMEOUTS: Timeouts = {
  connection: 10_000,
  statement: 10_000,
  idleInTransaction: 10_000,
  silence: 15_000,
};

/** The settings of every connection to `url`. */
export function connectionSettings(url: string, timeouts: Timeouts = TIMEOUTS): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: "stepwell",
    connectionTimeoutMillis: timeouts.connection,
    statement_timeout: timeouts.statement,
    idle_in_transaction_session_timeout: timeouts.idleInTransaction,
    keepAlive: true,
  };
}

/** Opens one connection outside the pool. Errors while nothing is asked surface with the next statement. */
export async function connect(url: string, timeouts?: Timeouts): Promise<pg.Client> {
  const client = new pg.Client(connectionSettings(url, timeouts));
  client.on("error", () => {});
  await client.connect();
  return client;
}
