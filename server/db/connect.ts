import pg from "pg";

/** Database timeouts in milliseconds; documented in docs/operating.md. */
export type Timeouts = {
  /** To get a connection, new or from the pool. */
  connection: number;
  /** One statement, including waiting for locks. The server enforces it. */
  statement: number;
  /** Between two statements of a transaction: a frozen process must not keep its locks. The server enforces it. */
  idleInTransaction: number;
  /** No byte from a server that owes a response: it is frozen or unreachable. Longer than `statement`. */
  silence: number;
};
export const TIMEOUTS: Timeouts = {
  connection: 10_000,
  statement: 10_000,
  idleInTransaction: 10_000,
  silence: 15_000,
};

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

/** Opens one connection outside the pool. An error while it is idle surfaces with the next statement. */
export async function connect(url: string, timeouts?: Timeouts): Promise<pg.Client> {
  const client = new pg.Client(connectionSettings(url, timeouts));
  client.on("error", () => {});
  await client.connect();
  return client;
}
