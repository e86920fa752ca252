import type { Language } from "@/app/_ui/editor/language";
import { SelectField } from "@/app/_ui/forms/form";
import { ValueField } from "@/app/(dashboard)/_editor/value-field";
import { type Field, readSchema } from "../../../_schema/field";
import { warnOfCount } from "../knowledge/count-hint";
import { LastCondition } from "../knowledge/last-condition";
import { scopeOf } from "../knowledge/tool-completions";
import { useToolKnowledge } from "../knowledge/use-tool-knowledge";
import { fieldAt, type PartProps, valueFieldAt } from "../part-form";
import { RepairLinks } from "../problems/repair-links";
import { pathOf, type StepPlace, type StepView } from "../tool-document";
import { Section } from "./section";

type FlowFieldsProps = PartProps & { step: StepView; place: StepPlace };

export function FlowFields({ step, place, ...props }: FlowFieldsProps) {
  const knowledge = useToolKnowledge();
  const at = pathOf(place);
  const onError = fieldAt(props, [...at, "onError"]);
  const isGroup = step.parallel !== null;
  return (
    <Section title="Flow">
      {FLOW.map(({ grid, field, fields }) => (
        <div className={grid} key={grid}>
          {fields
            .filter(({ name }) => !isGroup || OF_GROUPS.has(name))
            .map(({ name, ...words }) => (
              <div className="min-w-0" data-field={name} key={name}>
                <ValueField
                  {...valueFieldAt(props, [...at, name])}
                  {...words}
                  hint={warnOfCount(String(step.fields[name] ?? ""), knowledge.outputs) ?? words.hint}
                  completions={{
                    scopeAt: () => scopeOf(props.tool, knowledge, { ...place, takesSecrets: false }),
                  }}
                  field={field}
                />
                {name === "if" ? <LastCondition step={step} /> : null}
                <RepairLinks {...props} at={[...at, name]} />
              </div>
            ))}
        </div>
      ))}
      <SelectField
        {...onError}
        label="On error"
        onChange={(value) => onError.onChange(value === "continue" ? "continue" : undefined)}
        value={onError.value === "continue" ? "continue" : "fail"}
      >
        <option value="fail">Fail the run</option>
        <option value="continue">Continue; the output is the error</option>
      </SelectField>
    </Section>
  );
}

const FLOW: readonly {
  grid: string;
  field: Field;
  fields: readonly { name: string; label: string; hint: string; language?: Language }[];
}[] = [
  {
    grid: "",
    field: readSchema({ type: "string" }),
    fields: [
      {
        name: "if",
        label: "Only if",
        hint: "An expression, such as input.city = 'Oslo'. Empty: always.",
        language: "expression",
      },
    ],
  },
  {
    grid: "grid gap-4 empty:hidden sm:grid-cols-2",
    field: readSchema({ type: "string" }),
    fields: [
      {
        name: "forEach",
        label: "For each",
        hint: "An expression that gives a list. Empty: once.",
        language: "expression",
      },
      { name: "as", label: "Item name", hint: "What expressions call the item. Empty: item." },
    ],
  },
  {
    grid: "grid gap-4 sm:grid-cols-3",
    field: readSchema({ type: "integer" }),
    fields: [
      { name: "concurrency", label: "At once", hint: "Items processed at once." },
      { name: "retries", label: "Retries", hint: "Further attempts after a failure." },
      { name: "timeoutMs", label: "Timeout in ms", hint: "Empty: the function's own." },
    ],
  },
];
const OF_GROUPS = new Set(["if", "concurrency"]);

const WITH_CONTROL = new Set([
  "id",
  "uses",
  "onError",
  ...FLOW.flatMap(({ fields }) => fields.map(({ name }) => name)),
]);

/** Returns true if a problem in a step, at a path from the step, is shown at a control. */
export function hasControl([field, within]: readonly (string | number)[]): boolean {
  return WITH_CONTROL.has(String(field)) || (field === "with" && within !== undefined);
}
