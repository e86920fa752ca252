import { createMetrics, type Metrics } from "@/server/base/metrics/metrics";
import type { PriceList } from "@/server/base/models/price-list";
import type { Environment } from "@/server/base/settings/env";
import { listFunctions } from "@/server/work/functions/core/registry";
import type { Models } from "@/server/work/models/port";

/** The metrics of a process. The operator's settings name the models that may be a label. */
export function createServiceMetrics({
  env,
  models,
  prices,
}: {
  env: Pick<Environment, "defaultModel">;
  models: Pick<Models, "listed">;
  prices: PriceList;
}): Metrics {
  return createMetrics({
    models: [...models.listed, env.defaultModel, ...Object.keys(prices.models)],
    functions: listFunctions().map(({ name }) => name),
  });
}
