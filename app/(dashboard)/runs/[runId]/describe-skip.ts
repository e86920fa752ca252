import type { SkipNote } from "@/server/work/workflow/skip-note";

/** The values of the fields that an expression reads: `steps.check.state is nothing`. */
export function describeRead({ read }: Pick<SkipNote, "read">): string {
  return read.map(({ path, value }) => `${path} is ${value ?? "nothing"}`).join(", ");
}

/** The reason why a step was skipped, in one line. */
export function describeSkip(note: SkipNote): string {
  const { by, expression, value } = note;
  const setting = by === "if" ? "Skipped" : "Skipped, no items";
  const read = describeRead(note);
  return `${setting}: ${expression} is ${value ?? "nothing"}${read === "" ? "" : `; ${read}`}`;
}
