import type { z } from "zod";
import { parseInput } from "@/server/catalog/issues";

/** A procedure's input parser that refuses with every issue and its path, so that a form can show them at its fields. */
export function checkedInput<Schema extends z.ZodType>(schema: Schema): (input: unknown) => z.output<Schema> {
  return (input) => parseInput(schema, input);
}
