import { z } from "zod";
import { type ExactNumber, isExactNumber } from "./exact-number";
import type { Json } from "./json";

/** A finite number, also one that a double cannot hold. */
export const anyNumber = z
  .custom<number | ExactNumber>()
  .check(({ value, issues }) => {
    // The code tells a union that this branch does not accept the type.
    if (!Number.isFinite(value) && !isExactNumber(value))
      issues.push({ code: "invalid_type", expected: "number", message: "must be a number", input: value });
  })
  .meta({ type: "number" });

export const anyJson: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), anyNumber, z.boolean(), z.null(), z.array(anyJson), z.record(z.string(), anyJson)]),
);
