import { z } from "zod";
import { Prisma } from "@/server/base/db/generated/client";

/** A credit amount: a decimal with four places, never a float. */
export type Decimal = Prisma.Decimal;
export const Decimal = Prisma.Decimal;

/** A decimal as text: a column as PostgreSQL's driver reads it, or a field of a stored document. */
export const decimalText = z.string().transform((text) => new Decimal(text));

export const ZERO = new Decimal(0);

/** Rounds to the ledger's four places, half up. */
export function toLedger(amount: Decimal): Decimal {
  return amount.toDecimalPlaces(4, Decimal.ROUND_HALF_UP);
}
