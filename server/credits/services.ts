import type { PriceList } from "@/server/base/price-list";
import type { Services as BaseServices } from "@/server/base/services";

export type Services = BaseServices & {
  prices: PriceList;
};
