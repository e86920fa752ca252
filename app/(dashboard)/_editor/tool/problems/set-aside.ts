import { isJsonObject } from "@/server/base/json/json";
import { readTool, setValue } from "../tool-document";

/** Inputs of a step that its function does not take, by name. */
export type Inputs = Readonly<Record<string, unknown>>;

type Change = {
  index: number;
  uses: string;
  takes: ReadonlySet<string>;
  aside: Inputs;
};

/** Gives a step a function. Sets aside inputs that it does not take, and restores earlier ones that it takes. */
export function setFunction(
  text: string,
  { index, uses, takes, aside }: Change,
): { text: string; aside: Inputs } {
  const fields = readTool(text)?.steps[index]?.fields;
  if (fields === undefined) return { text, aside };
  const given = isJsonObject(fields.with) ? fields.with : {};
  const all = Object.entries({ ...aside, ...given });
  const kept = all.filter(([name]) => takes.has(name));
  const foreign = all.filter(([name]) => !takes.has(name));
  const called = fields.uses === uses ? text : setValue(text, ["steps", index, "uses"], uses);
  return {
    text: setValue(called, ["steps", index, "with"], Object.fromEntries(kept)),
    aside: Object.fromEntries(foreign),
  };
}

/** Returns to the function and the inputs that a step had in another text. */
export function restoreFunction(text: string, { from, id }: { from: string; id: string }): string {
  const before = readTool(from)?.steps.find((step) => step.id === id);
  const index = readTool(text)?.steps.findIndex((step) => step.id === id) ?? -1;
  if (before === undefined || index < 0) return text;
  const called = setValue(text, ["steps", index, "uses"], before.uses ?? undefined);
  return setValue(called, ["steps", index, "with"], before.fields.with);
}
