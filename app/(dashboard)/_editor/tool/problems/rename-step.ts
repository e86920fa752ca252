import { isScalar } from "yaml";
import type { StepMention } from "@/server/catalog/edit-definition";
import { quoted } from "@/server/work/expressions/quoted";
import { edit, pathOf, type StepPlace } from "../tool-document";

/** `written`: the name that the mentions have now; null: the name in their own texts. */
type Renaming = {
  place: StepPlace;
  from: string;
  to: string;
  mentions: readonly StepMention[];
  written: string | null;
};

/**
 * Renames a step and its mentions. Leaves mentions that have changed since, and changes nothing if the step has
 * moved. An empty name only clears the id.
 */
export function renameStep(text: string, { place, from, to, mentions, written }: Renaming): string {
  return edit(text, (document) => {
    const path = [...pathOf(place), "id"];
    const id: unknown = document.getIn(path, true);
    if (isScalar(id) && id.value === from) id.value = to;
    else if (from === "" && id === undefined) document.setIn(path, to);
    else return;
    if (to === "") return;
    for (const mention of mentions) {
      const node: unknown = document.getIn(mention.path, true);
      const expected = written === null ? mention.text : withName(mention, written);
      if (isScalar(node) && node.value === expected) node.value = withName(mention, to);
    }
  });
}

const withName = ({ text, names }: StepMention, id: string) =>
  names
    .toSorted((a, b) => b.from - a.from)
    .reduce((all, { from, to }) => `${all.slice(0, from)}${quoted(id)}${all.slice(to)}`, text);
