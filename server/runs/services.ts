import type { LRUCache } from "lru-cache";
import type { Cached } from "@/server/base/db/configuration-cache";
import type { PriceList } from "@/server/base/models/price-list";
import type { Services as GuardServices } from "@/server/guard/services";
import type { OwnProvider } from "@/server/work/models/own-provider";
import type { Models } from "@/server/work/models/port";
import type { EndedRuns } from "./ended-runs";
import type { Engine } from "./engine/port";
import type { EndWaiters } from "./live/end-waiters";
import type { Target } from "./target";

export type Services = GuardServices & {
  cached: { targets: Cached<Target>; modelProviders: Cached<readonly OwnProvider[]> };
  endedRuns: EndedRuns;
  endWaiters: EndWaiters;
  /** By organization and hash. */
  configurationsStored: LRUCache<string, true>;
  engine: Engine;
  models: Models;
  prices: PriceList;
};
