import type { PriceList } from "@/server/base/models/price-list";
import type { Services as BaseServices } from "@/server/base/services";

export type Services = BaseServices & {
  prices: PriceList;
};
