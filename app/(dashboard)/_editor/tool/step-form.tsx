"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import type { Language } from "@/app/_ui/editor/language";
import { schemasAt } from "@/app/_ui/editor/text/schema";
import { SelectField, TextField } from "@/app/_ui/forms/form";
import { RemoveIcon } from "@/app/_ui/icons";
import { notify } from "@/app/_ui/toast";
import { isJsonObject, readJson } from "@/server/base/json/json";
import type { FunctionChoice } from "@/server/catalog/edit-definition";
import { ANY, type Field, readSchema } from "../../_schema/field";
import { hintOf } from "../../_schema/value";
import { MoveButtons, moveButton } from "../move-buttons";
import { ValueField } from "../value-field";
import { insertableSecrets, insertablesBefore } from "./insertables";
import { fieldAt, type PartProps, Rest, textFieldAt, valueFieldAt } from "./part-form";
import { SELECTED_CARD } from "./step-list";
import { scopeOf } from "./tool-completions";
import { moveStep, type Path, removeStep, type StepView } from "./tool-document";
import { useToolKnowledge } from "./use-tool-knowledge";

const ANCHORED = "Other parts of the YAML use its anchor. Change them first.";

/** The form of one step: its position, id, function, input and flow. */
export function StepForm({ step, index, ...props }: PartProps & { step: StepView; index: number }) {
  const trpc = useTRPC();
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  const { tool, problems, textOf, onChange, onSelect } = props;
  const knowledge = useToolKnowledge();
  const pathTo = (...path: Path) => ["steps", index, ...path];
  const onError = fieldAt(props, pathTo("onError"));
  const isGroup = step.parallel !== null;
  const used = functions.find(({ name }) => name === step.uses);
  const name = step.id || `step ${index + 1}`;
  function move(to: number) {
    const before = textOf();
    const moved = moveStep(before, index, to);
    if (moved === before) return notify("The step was not moved", ANCHORED);
    onChange(() => moved);
    onSelect(to, moveButton(to < index ? "up" : "down"));
  }
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
  return (
    <section aria-label={`Step ${name}`} className="flex max-w-3xl flex-col gap-4">
      <div className="flex items-center gap-1">
        <h2 className="min-w-0 flex-1 truncate font-semibold">
          Step {index + 1} of {tool.steps.length}
        </h2>
        <MoveButtons count={tool.steps.length} index={index} name={name} onMove={move} />
        <IconButton label={`Remove ${name}`} onClick={remove}>
          <RemoveIcon />
        </IconButton>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          {...textFieldAt(props, pathTo("id"))}
          code
          hint={`Later steps use its output as steps.${step.id || "id"}.`}
          label="Step id"
        />
        {isGroup ? null : (
          <SelectField {...textFieldAt(props, pathTo("uses"))} hint={used?.description} label="Function">
            {used ? null : <option value={step.uses ?? ""}>{step.uses || "Choose a function"}</option>}
            {functions.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </SelectField>
        )}
      </div>
      {isGroup ? (
        <p className="text-muted">The steps of a group are edited in the YAML.</p>
      ) : (
        <Inputs {...props} index={index} key={step.uses} step={step} used={used} />
      )}
      <Section title="Flow">
        {FLOW.map(({ grid, field, fields }) => (
          <div className={grid} key={grid}>
            {fields
              .filter(({ name }) => !isGroup || OF_GROUPS.has(name))
              .map(({ name, ...words }) => (
                <ValueField
                  {...valueFieldAt(props, pathTo(name))}
                  {...words}
                  completions={{
                    scopeAt: () => scopeOf(tool, knowledge, { index, takesSecrets: false }),
                  }}
                  field={field}
                  key={name}
                />
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

/** When the step runs and how often, by rows. */
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
/** The fields that a group of steps has as well. */
const OF_GROUPS = new Set(["if", "concurrency"]);

/** Fields with a control, which shows their problems. */
const WITH_CONTROL = new Set([
  "id",
  "uses",
  "onError",
  ...FLOW.flatMap(({ fields }) => fields.map(({ name }) => name)),
]);

/** The languages of inputs, by what they are parsed as. */
const LANGUAGES = new Map<string, Language>([
  ["expression", "expression"],
  ["arithmetic", "template"],
  ["script", "javascript"],
]);

/** The function's inputs: required and set ones, the others folded. */
function Inputs({
  step,
  index,
  used,
  ...props
}: PartProps & { step: StepView; index: number; used: FunctionChoice | undefined }) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const knowledge = useToolKnowledge();
  const values = isJsonObject(step.fields.with) ? step.fields.with : {};
  const input: unknown = readJson(used?.input ?? "null");
  const properties = readSchema(input).fields;
  const known = new Set(properties.map(({ name }) => name));
  // Chosen once: a field that moves while somebody types loses the focus.
  const [shown] = useState(
    () =>
      new Set([
        ...Object.keys(values),
        ...properties.filter(({ required }) => required).map(({ name }) => name),
      ]),
  );
  const unknown = Object.keys(values).filter((name) => !known.has(name));
  const folded = properties.filter(({ name }) => !shown.has(name));
  const insertables = insertablesBefore(props.tool, index);
  const targets = { run_tool: choices.tools, run_agent: choices.agents }[step.uses ?? ""] ?? [];
  const render = (field: Field, hint = hintOf(field)) => {
    const { name, required } = field;
    const takesSecrets = used?.secretFields.includes(name);
    return (
      <ValueField
        {...valueFieldAt(props, ["steps", index, "with", name])}
        hint={[required ? "Required." : "", hint].filter(Boolean).join(" ")}
        insertables={
          takesSecrets ? [...insertables, ...insertableSecrets(knowledge.secrets, name)] : insertables
        }
        completions={{
          schemaAt: (path) => ({ anyOf: schemasAt(input, [name, ...path]) }),
          scopeAt: () => scopeOf(props.tool, knowledge, { index, takesSecrets: takesSecrets === true }),
        }}
        field={field}
        key={name}
        label={name}
        language={LANGUAGES.get(used?.parsedFields[name] ?? "")}
        suggestions={
          step.uses === `run_${name}` ? targets.map(({ slug, name }) => ({ value: slug, name })) : []
        }
        takesSecrets={takesSecrets}
      />
    );
  };
  return (
    <Section title="Input">
      {properties.filter(({ name }) => shown.has(name)).map((field) => render(field))}
      {unknown.map((name) => render({ ...ANY, name }, "This function has no such input."))}
      {folded.length > 0 ? (
        <details>
          <summary className="cursor-pointer py-1 text-accent">
            {folded.length === properties.length ? "Optional inputs" : "More inputs"}: {folded.length}
          </summary>
          <div className="mt-2 flex flex-col gap-4">{folded.map((field) => render(field))}</div>
        </details>
      ) : null}
      {properties.length === 0 && unknown.length === 0 ? (
        <p className="text-muted">This function needs no input.</p>
      ) : null}
    </Section>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-4 border-line border-t pt-4">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}
