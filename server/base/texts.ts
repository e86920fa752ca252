import { z } from "zod";

/** Text without U+0000, which PostgreSQL cannot store. */
export const text = (max: number) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine((value) => !value.includes("\0"), "must not contain U+0000");

/** A name of up to 200 characters that is not blank. */
export const nameText = text(200).refine((value) => value.trim() !== "", "must not be empty");

/** Distinct texts; a repeated one is a mistake. */
export function distinct(item: z.ZodType<string, string>) {
  return z.array(item).refine((items) => new Set(items).size === items.length, "must not contain duplicates");
}
