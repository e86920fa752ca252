import { Decimal } from "@/server/credits/amount";

/** Data without classes, as pages get it. */
export type Plain<Value> = Value extends Date | Decimal
  ? string
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends readonly (infer Item)[]
      ? Plain<Item>[]
      : { [Key in keyof Value]: Plain<Value[Key]> };

/** Rows as plain data: dates as ISO 8601, decimals with four places. */
export function plain<Value extends object>(value: Value): Plain<Value> {
  return JSON.parse(
    JSON.stringify(value, function (this: Record<string, unknown>, key, text) {
      const held = this[key];
      return Decimal.isDecimal(held) ? held.toFixed(4) : text;
    }),
  );
}
