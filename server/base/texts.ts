import { z } from "zod";
import { describeInvalidText } from "@/server/base/json/invalid-text";

/** Rejects what PostgreSQL cannot store: U+0000 and unpaired surrogates. For `superRefine` of a string. */
export function requireValidText(value: string, context: z.RefinementCtx): void {
  const found = describeInvalidText(value);
  if (found !== null) context.addIssue({ code: "custom", message: `must not contain ${found}` });
}

/** A valid text of bounded length. */
export const text = (max: number) =>
  z.string().max(max, `must have at most ${max} characters`).superRefine(requireValidText);

/** A name of up to 200 characters that is not blank. */
export const nameText = text(200).refine((value) => value.trim() !== "", "must not be empty");

/** Distinct texts; a repeated one is a mistake. */
export function distinct(item: z.ZodType<string, string>) {
  return z.array(item).refine((items) => new Set(items).size === items.length, "must not contain duplicates");
}
