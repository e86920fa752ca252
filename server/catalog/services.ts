import type { AuthenticatedKey } from "@/server/base/actor";
import type { Cached } from "@/server/base/db/configuration-cache";
import type { Services as RunServices } from "@/server/runs/services";
import type { Trigger } from "./webhooks/trigger";

/** What the catalog needs. */
export type Services = RunServices & {
  /** What requests read of organizations' configuration. */
  cached: { apiKeys: Cached<AuthenticatedKey>; triggers: Cached<Trigger> };
};
