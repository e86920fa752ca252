import type { AuthenticatedKey } from "@/server/base/actor";
import type { Cached } from "@/server/base/db/configuration-cache";
import type { Services as RunServices } from "@/server/runs/services";
import type { Trigger } from "./webhooks/trigger";

export type Services = RunServices & {
  cached: { apiKeys: Cached<AuthenticatedKey>; triggers: Cached<Trigger> };
};
