import { z } from "zod";
import { describeInvalidText } from "@/server/base/json/invalid-text";
import { MAX_NAME_LENGTH } from "@/server/contract/limits";

/** Rejects what PostgreSQL cannot store: U+0000 and unpaired surrogates. For `superRefine` of a string. */
export function requireValidText(value: string, context: z.RefinementCtx): void {
  const found = describeInvalidText(value);
  if (found !== null) context.addIssue({ code: "custom", message: `must not contain ${found}` });
}

export const text = (max: number) =>
  z.string().max(max, `must have at most ${max} characters`).superRefine(requireValidText);

export const nameText = text(MAX_NAME_LENGTH).refine((value) => value.trim() !== "", "must not be empty");

// A longer list is rejected before its items are checked: each would be an issue of its own.
const MAX_ITEMS = 1_000;

/** Distinct texts; a repeated one is a mistake. */
export function distinct(item: z.ZodType<string, string>) {
  return z
    .array(item)
    .max(MAX_ITEMS)
    .refine((items) => new Set(items).size === items.length, "must not contain duplicates");
}
