import { Decimal } from "@/server/base/amount";

type PlainData<Value> = Value extends Date | Decimal
  ? string
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends readonly (infer Item)[]
      ? PlainData<Item>[]
      : { [Key in keyof Value]: PlainData<Value[Key]> };

/** Rows as plain data: dates as ISO 8601, decimals with four places. */
export function toPlainData<Value extends object>(value: Value): PlainData<Value> {
  return JSON.parse(
    JSON.stringify(value, function (this: Record<string, unknown>, key, text) {
      const held = this[key];
      return Decimal.isDecimal(held) ? held.toFixed(4) : text;
    }),
  );
}
