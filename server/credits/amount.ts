import { Prisma } from "@/server/db/generated/client";

/** A credit amount: a decimal with four places, never a float. */
export type Decimal = Prisma.Decimal;
export const Decimal = Prisma.Decimal;

export const ZERO = new Decimal(0);

/** Rounds to the ledger's four places, half up. */
export function toLedger(amount: Decimal): Decimal {
  return amount.toDecimalPlaces(4, Decimal.ROUND_HALF_UP);
}
