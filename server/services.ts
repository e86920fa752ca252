import type { Pool } from "pg";
import type { Clock } from "@/server/clock";
import type { PriceList } from "@/server/credits/prices";
import type { Database } from "@/server/db/client";
import type { Environment } from "@/server/env";
import type { EgressFetch } from "@/server/functions/define";
import type { Logger } from "@/server/log";
import type { Models } from "@/server/models/port";
import type { Vault } from "@/server/secrets/vault";

/** What the runs room asks of the engine: engines only wake, the run row is the truth. */
export type Engine = {
  /** Says that runs wait to be admitted; cheap, may be called at any time, never throws. */
  ring(): void;
  /** Whether the engine can take runs now. */
  ready(): Promise<boolean>;
};

/** Everything a verb may use; built once by wiring.ts. */
export type Services = {
  env: Environment;
  db: Database;
  /** The pool under `db`, for the few hot statements that are written by hand. */
  pool: Pool;
  engine: Engine;
  models: Models;
  /** What models and actions cost. */
  prices: PriceList;
  /** The guarded way out of the network. */
  fetch: EgressFetch;
  /** Encrypts secrets at rest. */
  vault: Vault;
  clock: Clock;
  log: Logger;
};
