"use client";

import { useRef, useState } from "react";
import { useTRPCClient } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { TextField } from "@/app/_ui/forms/form";
import type { StepMention } from "@/server/catalog/edit-definition";
import { type PartProps, textFieldAt } from "../part-form";
import { renameStep } from "../problems/rename-step";
import { otherIds, pathOf, type StepPlace, type StepView } from "../tool-document";

type Visit = {
  id: string;
  mentions: readonly StepMention[];
  written: string | null;
  /** The id of what is known about the step, such as its pinned output; null: that is another step's. */
  known: string | null;
};

/** The id of a step. While it is typed, mentions of the step are renamed. */
export function StepIdField({ step, place, ...props }: PartProps & { step: StepView; place: StepPlace }) {
  const client = useTRPCClient();
  const isTaken = (id: string) => otherIds(props.tool, place).includes(id);
  const newVisit = (): Visit => ({
    id: step.id,
    mentions: [],
    written: null,
    known: isTaken(step.id) ? null : step.id,
  });
  const visit = useRef<Visit | null>(null);
  const [updated, setUpdated] = useState(0);
  function begin() {
    const started = newVisit();
    visit.current = started;
    if (started.id === "") return;
    client.definitions.stepMentions.mutate({ yaml: props.textOf(), step: started.id }).then(
      (mentions) => {
        started.mentions = mentions;
        // The text that was typed before the answer arrived.
        if (started.id !== step.id) rename(started, started.id);
      },
      // The check of the definition then shows what names no step.
      () => {},
    );
  }
  function rename(of: Visit, to: string) {
    const { id: from, mentions, written, known } = of;
    props.onChange((before) => renameStep(before, { place, from, to, mentions, written }));
    // An id in typing can be another step's for a moment.
    if (known !== null && known !== to && !isTaken(to)) {
      props.aside.rename(known, to);
      of.known = to;
    }
    of.id = to;
    if (to !== "" && mentions.length > 0) of.written = to;
    setUpdated(mentions.reduce((sum, { names }) => sum + names.length, 0));
  }
  const hint = `Later steps use its output as steps.${step.id || "id"}.`;
  return (
    <TextField
      {...textFieldAt(props, [...pathOf(place), "id"])}
      code
      hint={updated === 0 ? hint : `${hint} ${formatPlural(updated, "reference")} updated.`}
      label="Step id"
      onChange={(to) => {
        if (visit.current?.id !== step.id) visit.current = newVisit();
        rename(visit.current, to);
      }}
      onFocus={begin}
    />
  );
}
