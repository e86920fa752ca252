import type { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { AuthenticatedKey } from "@/server/base/actor";
import type { Clock } from "@/server/base/clock";
import type { Database } from "@/server/base/db/client";
import type { Cached } from "@/server/base/db/configuration-cache";
import type { Notifications } from "@/server/base/db/notifications";
import type { Environment } from "@/server/base/env";
import type { Logger } from "@/server/base/log";
import type { Trigger } from "@/server/catalog/webhooks/trigger";
import type { PriceList } from "@/server/credits/prices";
import type { GuardedFetch } from "@/server/guard/egress/guarded-fetch";
import type { ProcessMemory } from "@/server/guard/limits/process-memory";
import type { SendMail } from "@/server/guard/mail/message";
import type { Encryption } from "@/server/guard/secrets/encryption";
import type { EndedRuns } from "@/server/runs/ended-runs";
import type { Engine } from "@/server/runs/engine/port";
import type { Target } from "@/server/runs/target";
import type { OwnProvider } from "@/server/work/models/own-provider";
import type { Models } from "@/server/work/models/port";

/** The services that verbs use; built once by wiring.ts. */
export type Services = {
  env: Environment;
  db: Database;
  /** The pool under `db`, for the statements of server/base/db/statement.ts. */
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
