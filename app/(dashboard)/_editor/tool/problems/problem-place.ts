import type { Part } from "../step-list";
import type { Path } from "../tool-document";

/** The part of a tool that a path of its definition is in; null for the definition as a whole. */
export function partOf([field, index]: Path): Part | null {
  if (field === "steps" && typeof index === "number") return index;
  if (field === "output" || field === "outputSchema") return "output";
  return field === undefined || field === "steps" ? null : "input";
}

/** A CSS selector of the control for a path, in the form of the path's part. */
export function controlAt(path: Path): string {
  const isStep = typeof partOf(path) === "number";
  const isMember = isStep && path[2] === "parallel" && typeof path[3] === "number";
  const within = path.slice(isMember ? 4 : isStep ? 2 : 0);
  const field = within[0] === "with" ? within[1] : within[0];
  const member = isMember ? `[data-member="${path[3]}"] ` : "";
  const controls = ":is(input, select, textarea, [contenteditable])";
  return `${member}[data-field="${CSS.escape(String(field ?? "id"))}"] ${controls}`;
}
