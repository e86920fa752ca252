import { z } from "zod";
import { type ExactNumber, isExactNumber } from "./exact-number";
import type { Json } from "./json";

/** A finite number, also one that a double cannot hold. */
export const anyNumber = z
  .custom<number | ExactNumber>((value) => Number.isFinite(value) || isExactNumber(value), "must be a number")
  .meta({ type: "number" });

/** Any JSON value, like `z.json()`. */
export const anyJson: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), anyNumber, z.boolean(), z.null(), z.array(anyJson), z.record(z.string(), anyJson)]),
);
