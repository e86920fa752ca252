/**
 * If the navigation is only icons. `narrow`: on screens whose width lists need. On a phone it is a drawer, and
 * never folded.
 */
export type Folded = "never" | "narrow" | "always";

type Classes = { label: string; beside: string; line: string };

const CLASSES: Record<Folded, Classes> = {
  never: { label: "", beside: "", line: "hidden" },
  narrow: { label: "md:max-xl:sr-only", beside: "md:max-xl:hidden", line: "xl:hidden" },
  always: { label: "sr-only", beside: "hidden", line: "" },
};

/** Classes of a label, of what stands beside it, and of the line that replaces a heading. */
export function foldedClasses(folded: Folded): Classes {
  return CLASSES[folded];
}
