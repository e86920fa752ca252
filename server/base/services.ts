import type { Pool } from "pg";
import type { Clock } from "./clock";
import type { Database } from "./db/client";
import type { Notifications } from "./db/notifications";
import type { Logger } from "./log";
import type { Metrics } from "./metrics/metrics";
import type { Environment } from "./settings/env";

/** The services on which all other rooms stand. */
export type Services = {
  env: Environment;
  db: Database;
  pool: Pool;
  notifications: Notifications;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
};
