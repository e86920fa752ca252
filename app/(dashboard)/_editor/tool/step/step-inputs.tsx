"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import type { Language } from "@/app/_ui/editor/language";
import { schemasAt } from "@/app/_ui/editor/text/schema";
import { pairsOf } from "@/app/(dashboard)/_editor/pairs";
import { PairsField } from "@/app/(dashboard)/_editor/pairs-field";
import { ValueField } from "@/app/(dashboard)/_editor/value-field";
import { isJsonObject, readJson } from "@/server/base/json/json";
import type { FunctionChoice } from "@/server/catalog/edit-definition";
import { type Field, readSchema } from "../../../_schema/field";
import { hintOf } from "../../../_schema/value";
import { insertableSecrets, insertablesBefore } from "../knowledge/insertables";
import { scopeOf } from "../knowledge/tool-completions";
import { useToolKnowledge } from "../knowledge/use-tool-knowledge";
import { type PartProps, valueFieldAt } from "../part-form";
import { ForeignInputs } from "../problems/foreign-inputs";
import { RepairLinks } from "../problems/repair-links";
import { pathOf, type StepPlace, type StepView } from "../tool-document";
import { Section } from "./section";

const LANGUAGES = new Map<string, Language>([
  ["expression", "expression"],
  ["arithmetic", "template"],
  ["script", "javascript"],
]);

export const inputsOf = (used: FunctionChoice | undefined): readonly Field[] =>
  readSchema(readJson(used?.input ?? "null")).fields;

type StepInputsProps = PartProps & {
  step: StepView;
  place: StepPlace;
  used: FunctionChoice | undefined;
  onSetAside: () => void;
};

/** The function's inputs: required and set ones, the others folded. */
export function StepInputs({ step, place, used, onSetAside, ...props }: StepInputsProps) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const knowledge = useToolKnowledge();
  const values = isJsonObject(step.fields.with) ? step.fields.with : {};
  const properties = inputsOf(used);
  const takes = new Set(properties.map(({ name }) => name));
  // Chosen once: a field that moves during typing loses the focus.
  const [shown] = useState(
    () =>
      new Set([
        ...Object.keys(values),
        ...properties.filter(({ required }) => required).map(({ name }) => name),
      ]),
  );
  const foreignOf = (inputs: object) =>
    Object.fromEntries(Object.entries(inputs).filter(([name]) => !takes.has(name)));
  const folded = properties.filter(({ name }) => !shown.has(name));
  const insertables = insertablesBefore(props.tool, place, knowledge.outputs);
  const targets = { run_tool: choices.tools, run_agent: choices.agents }[step.uses ?? ""] ?? [];
  const render = (field: Field) => {
    const { name, required } = field;
    const takesSecrets = used?.secretFields.includes(name);
    const pairs = pairsOf(field);
    const common = {
      ...valueFieldAt(props, [...pathOf(place), "with", name]),
      completions: {
        schemaAt: (path: readonly (string | number)[]) => ({
          anyOf: schemasAt(readJson(used?.input ?? "null"), [name, ...path]),
        }),
        scopeAt: () => scopeOf(props.tool, knowledge, { ...place, takesSecrets: takesSecrets === true }),
      },
      hint: [required ? "Required." : "", hintOf(field)].filter(Boolean).join(" "),
      insertables: takesSecrets
        ? [...insertables, ...insertableSecrets(knowledge.secrets, name)]
        : insertables,
      label: name,
      takesSecrets,
    };
    const json = (
      <ValueField
        {...common}
        field={field}
        isLabelHidden={pairs !== null}
        language={LANGUAGES.get(used?.parsedFields[name] ?? "")}
        suggestions={
          step.uses === `run_${name}` ? targets.map(({ slug, name }) => ({ value: slug, name })) : []
        }
      />
    );
    return (
      <div className="min-w-0" data-field={name} key={name}>
        {pairs === null ? json : <PairsField {...common} json={json} lists={pairs.lists} />}
        <RepairLinks {...props} at={[...pathOf(place), "with", name]} />
      </div>
    );
  };
  return (
    <Section title="Input">
      <ForeignInputs
        aside={foreignOf(props.aside.of(step.id))}
        given={used === undefined ? {} : foreignOf(values)}
        onDiscard={() => props.aside.set(step.id, {})}
        onSetAside={onSetAside}
        uses={step.uses ?? ""}
      />
      {properties.filter(({ name }) => shown.has(name)).map(render)}
      {folded.length > 0 ? (
        <details>
          <summary className="cursor-pointer py-1 text-accent">
            {folded.length === properties.length ? "Optional inputs" : "More inputs"}: {folded.length}
          </summary>
          <div className="mt-2 flex flex-col gap-4">{folded.map(render)}</div>
        </details>
      ) : null}
      {properties.length === 0 ? <p className="text-muted">This function needs no input.</p> : null}
    </Section>
  );
}
