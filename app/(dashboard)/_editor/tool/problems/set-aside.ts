import { isJsonObject } from "@/server/base/json/json";
import { pathOf, placeOf, readTool, type StepPlace, setValue, stepAt } from "../tool-document";

/** Inputs of a step that its function does not take, by name. */
export type Inputs = Readonly<Record<string, unknown>>;

type Change = {
  place: StepPlace;
  uses: string;
  takes: ReadonlySet<string>;
  aside: Inputs;
};

/** Gives a step a function. Sets aside inputs that it does not take, and restores earlier ones that it takes. */
export function setFunction(
  text: string,
  { place, uses, takes, aside }: Change,
): { text: string; aside: Inputs } {
  const fields = stepAt(readTool(text), place)?.fields;
  if (fields === undefined) return { text, aside };
  const given = isJsonObject(fields.with) ? fields.with : {};
  const all = Object.entries({ ...aside, ...given });
  const kept = all.filter(([name]) => takes.has(name));
  const foreign = all.filter(([name]) => !takes.has(name));
  const called = fields.uses === uses ? text : setValue(text, [...pathOf(place), "uses"], uses);
  return {
    text: setValue(called, [...pathOf(place), "with"], Object.fromEntries(kept)),
    aside: Object.fromEntries(foreign),
  };
}

/** Returns to the function and the inputs that a step had in another text. */
export function restoreFunction(text: string, { from, id }: { from: string; id: string }): string {
  const tool = readTool(from);
  const placeBefore = placeOf(tool, id);
  const place = placeOf(readTool(text), id);
  if (placeBefore === null || place === null) return text;
  const before = stepAt(tool, placeBefore);
  const called = setValue(text, [...pathOf(place), "uses"], before?.uses ?? undefined);
  return setValue(called, [...pathOf(place), "with"], before?.fields.with);
}
