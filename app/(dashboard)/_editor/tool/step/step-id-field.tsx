"use client";

import { useRef, useState } from "react";
import { useTRPCClient } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { TextField } from "@/app/_ui/forms/form";
import type { StepMention } from "@/server/catalog/edit-definition";
import { type PartProps, textFieldAt } from "../part-form";
import { renameStep } from "../problems/rename-step";
import { pathOf, type StepPlace, type StepView } from "../tool-document";

type Visit = { id: string; mentions: readonly StepMention[]; written: string | null };

/** The id of a step. While it is typed, mentions of the step are renamed. */
export function StepIdField({ step, place, ...props }: PartProps & { step: StepView; place: StepPlace }) {
  const client = useTRPCClient();
  const visit = useRef<Visit>({ id: step.id, mentions: [], written: null });
  const [updated, setUpdated] = useState(0);
  function begin() {
    const started: Visit = { id: step.id, mentions: [], written: null };
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
    const { id: from, mentions, written } = of;
    props.onChange((before) => renameStep(before, { place, from, to, mentions, written }));
    props.aside.rename(from, to);
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
        if (visit.current.id !== step.id) visit.current = { id: step.id, mentions: [], written: null };
        rename(visit.current, to);
      }}
      onFocus={begin}
    />
  );
}
