import type { PriceList } from "@/server/base/price-list";
import type { Services as BaseServices } from "@/server/base/services";

/** What credits need. */
export type Services = BaseServices & {
  /** What models and actions cost. */
  prices: PriceList;
};
