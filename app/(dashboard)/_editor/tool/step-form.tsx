"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { IconButton } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import type { Language } from "@/app/_ui/editor/language";
import { SelectField } from "@/app/_ui/forms/form";
import { BesideIcon, RemoveIcon } from "@/app/_ui/icons";
import { notify } from "@/app/_ui/toast";
import { type Field, readSchema } from "../../_schema/field";
import { MoveButtons, moveButton } from "../move-buttons";
import { ValueField } from "../value-field";
import { warnOfCount } from "./knowledge/count-hint";
import { LastCondition } from "./knowledge/last-condition";
import { scopeOf } from "./knowledge/tool-completions";
import { useToolKnowledge } from "./knowledge/use-tool-knowledge";
import { fieldAt, type PartProps, Rest, textFieldAt, valueFieldAt } from "./part-form";
import { RepairLinks } from "./problems/repair-links";
import { restoreFunction, setFunction } from "./problems/set-aside";
import { Section } from "./section";
import { StepIdField } from "./step-id-field";
import { inputsOf, StepInputs } from "./step-inputs";
import { SELECTED_CARD } from "./step-list";
import { ANCHORED, innerIdsOf, type Path, removeStep, type StepView } from "./tool-document";

/** The changes that a step's form makes in the list of steps. */
export type StepActions = {
  /** `focus`: a CSS selector of what gets the focus. */
  onMove: (from: number, to: number, focus: string) => void;
  onAddBeside: (index: number) => void;
};

/** The form of one step: its position, id, function, input and flow. */
export function StepForm({
  step,
  index,
  onMove,
  onAddBeside,
  ...props
}: PartProps & StepActions & { step: StepView; index: number }) {
  const trpc = useTRPC();
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  const { tool, problems, textOf, onChange, onSelect } = props;
  const knowledge = useToolKnowledge();
  const pathTo = (...path: Path) => ["steps", index, ...path];
  const onError = fieldAt(props, pathTo("onError"));
  const isGroup = step.parallel !== null;
  const used = functions.find(({ name }) => name === step.uses);
  const name = step.id || `step ${index + 1}`;
  function remove() {
    const before = textOf();
    const removed = removeStep(before, index);
    if (removed.text === before) return notify("The step was not removed", ANCHORED);
    onChange(() => removed.text);
    onSelect(index > 0 ? index - 1 : "input", SELECTED_CARD);
    notify(`Step ${step.id} is removed`, undefined, {
      label: "Undo",
      run: () => {
        onChange(removed.restore);
        onSelect(index, SELECTED_CARD);
      },
    });
  }
  function call(uses: string) {
    const from = textOf();
    const aside = props.aside.of(step.id);
    const takes = new Set(inputsOf(functions.find((each) => each.name === uses)).map(({ name }) => name));
    const called = setFunction(from, { index, uses, takes, aside });
    onChange(() => called.text);
    props.aside.set(step.id, called.aside);
    const added = Object.keys(called.aside).filter((name) => !Object.hasOwn(aside, name));
    if (added.length === 0) return;
    notify(`Set aside: ${added.join(", ")}`, `${uses} doesn't take ${added.length === 1 ? "it" : "them"}.`, {
      label: "Undo",
      run() {
        onChange((later) => (later === called.text ? from : restoreFunction(later, { from, id: step.id })));
        props.aside.set(step.id, aside);
      },
    });
  }
  return (
    <section aria-label={`Step ${name}`} className="flex max-w-3xl flex-col gap-4">
      <div className="flex items-center gap-1">
        <h2 className="min-w-0 flex-1 truncate font-semibold">
          Step {index + 1} of {tool.steps.length}
        </h2>
        <IconButton label={`Add a step beside ${name}`} onClick={() => onAddBeside(index)}>
          <BesideIcon />
        </IconButton>
        <MoveButtons
          count={tool.steps.length}
          index={index}
          name={name}
          onMove={(to) => onMove(index, to, moveButton(to < index ? "up" : "down"))}
        />
        <IconButton label={`Remove ${name}`} onClick={remove}>
          <RemoveIcon />
        </IconButton>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <div data-field="id">
          <StepIdField {...props} index={index} step={step} />
        </div>
        {isGroup ? null : (
          <div>
            <SelectField
              {...textFieldAt(props, pathTo("uses"))}
              hint={used?.description}
              label="Function"
              onChange={call}
            >
              {used ? null : <option value={step.uses ?? ""}>{step.uses || "Choose a function"}</option>}
              {functions.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.name}
                </option>
              ))}
            </SelectField>
            <RepairLinks {...props} at={pathTo("uses")} />
          </div>
        )}
      </div>
      {isGroup ? (
        <p className="text-muted">{`${innerIdsOf(step).join(", ")} run side by side. They are edited in the YAML.`}</p>
      ) : (
        <StepInputs
          {...props}
          index={index}
          key={step.uses}
          onSetAside={() => call(step.uses ?? "")}
          {...{ step, used }}
        />
      )}
      <Section title="Flow">
        {FLOW.map(({ grid, field, fields }) => (
          <div className={grid} key={grid}>
            {fields
              .filter(({ name }) => !isGroup || OF_GROUPS.has(name))
              .map(({ name, ...words }) => (
                <div className="min-w-0" data-field={name} key={name}>
                  <ValueField
                    {...valueFieldAt(props, pathTo(name))}
                    {...words}
                    hint={warnOfCount(String(step.fields[name] ?? ""), knowledge.outputs) ?? words.hint}
                    completions={{
                      scopeAt: () => scopeOf(tool, knowledge, { index, takesSecrets: false }),
                    }}
                    field={field}
                  />
                  {name === "if" ? <LastCondition step={step} /> : null}
                  <RepairLinks {...props} at={pathTo(name)} />
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
      <Rest
        problems={problems.filter(
          ({ path: [, , field, input] }) =>
            !WITH_CONTROL.has(String(field)) && !(field === "with" && input !== undefined),
        )}
      />
    </section>
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
      { name: "concurrency", label: "At once", hint: "Items under way at once." },
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
