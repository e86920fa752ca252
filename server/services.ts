import type { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { AuthenticatedKey } from "@/server/auth/actor";
import type { Clock } from "@/server/clock";
import type { PriceList } from "@/server/credits/prices";
import type { Database } from "@/server/db/client";
import type { Cached } from "@/server/db/configuration-cache";
import type { Notifications } from "@/server/db/notifications";
import type { GuardedFetch } from "@/server/egress/guarded-fetch";
import type { Environment } from "@/server/env";
import type { ProcessMemory } from "@/server/limits/process-memory";
import type { Logger } from "@/server/log";
import type { SendMail } from "@/server/mail/message";
import type { OwnProvider } from "@/server/models/own-provider";
import type { Models } from "@/server/models/port";
import type { EndedRuns } from "@/server/runs/ended-runs";
import type { Engine } from "@/server/runs/engine/port";
import type { Target } from "@/server/runs/target";
import type { Encryption } from "@/server/secrets/encryption";
import type { Trigger } from "@/server/webhooks/trigger";

/** The services that verbs use; built once by wiring.ts. */
export type Services = {
  env: Environment;
  db: Database;
  /** The pool under `db`, for the statements of server/db/statement.ts. */
  pool: Pool;
  /** The one LISTEN connection of this process. */
  notifications: Notifications;
  /** What requests read of organizations' configuration. */
  cached: {
    apiKeys: Cached<AuthenticatedKey>;
    targets: Cached<Target>;
    triggers: Cached<Trigger>;
    modelProviders: Cached<readonly OwnProvider[]>;
  };
  /** Recently ended runs, for polls. */
  endedRuns: EndedRuns;
  /** Frozen configurations known to be stored, by organization and hash. */
  configurationsStored: LRUCache<string, true>;
  engine: Engine;
  /** The memory that runs share. */
  memory: ProcessMemory;
  models: Models;
  /** What models and actions cost. */
  prices: PriceList;
  /** The guarded HTTP client for outgoing calls. */
  fetch: GuardedFetch;
  /** Sends the e-mails of functions; null: no SMTP server is configured. */
  sendMail: SendMail | null;
  /** Encrypts secrets at rest. */
  encryption: Encryption;
  clock: Clock;
  log: Logger;
};
