"use client";

import { type ReactNode, useState } from "react";
import { SelectField, TextField } from "@/app/_ui/forms/form";
import { type FieldProperty, readField } from "@/app/(dashboard)/_run/schema-value";
import type { FunctionChoice } from "@/server/catalog/edit-definition";
import { isJsonObject } from "@/server/json/json";
import type { Insertable } from "./insert-menu";
import { insertableSecrets } from "./insertables";
import type { StepView } from "./tool-document";
import { type Suggestion, ValueField } from "./value-field";

/** A path within a step, such as `["with", "url"]`. */
export type StepPath = readonly (string | number)[];

type StepProps = {
  step: StepView;
  /** What is wrong at a path, or below it. */
  errorAt: (path: StepPath) => string | undefined;
  /** Undefined: not set. */
  onSet: (path: StepPath, value: unknown) => void;
};

type OfferProps = {
  /** Values for an input of a function, such as the slugs of tools. */
  suggestions: (uses: string, input: string) => readonly Suggestion[];
  /** What the step's input can refer to, besides secrets. */
  insertables: readonly Insertable[];
  /** The names of the organization's secrets. */
  secrets: readonly string[];
};

/** A step's name, function, input and flow as a form. */
export function StepForm({
  functions,
  ...props
}: StepProps & OfferProps & { functions: readonly FunctionChoice[] }) {
  const { step, errorAt, onSet } = props;
  const used = functions.find(({ name }) => name === step.uses);
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          code
          error={errorAt(["id"])}
          hint={`Later steps use its output as steps.${step.id || "id"}.`}
          label="Step id"
          onChange={(id) => onSet(["id"], id)}
          value={step.id}
        />
        {step.parallel === null ? (
          <SelectField
            error={errorAt(["uses"])}
            hint={used?.description}
            label="Function"
            onChange={(uses) => onSet(["uses"], uses)}
            value={step.uses ?? ""}
          >
            {used ? null : <option value={step.uses ?? ""}>{step.uses || "Choose a function"}</option>}
            {functions.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
        ) : null}
      </div>
      {step.parallel === null ? (
        <Inputs {...props} key={step.uses} used={used} />
      ) : (
        <p className="text-muted">The steps of a group are edited in the YAML.</p>
      )}
      <Flow {...props} />
    </div>
  );
}

/** The function's inputs: required and set ones, the others folded. */
function Inputs({
  step,
  used,
  errorAt,
  onSet,
  suggestions,
  insertables,
  secrets,
}: StepProps & OfferProps & { used: FunctionChoice | undefined }) {
  const values = isJsonObject(step.fields.with) ? step.fields.with : {};
  const properties = used ? propertiesOf(used) : [];
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
  const render = ({ name, hint, required, schema }: FieldProperty) => (
    <ValueField
      error={errorAt(["with", name])}
      hint={[required ? "Required." : null, hint].filter((part) => part !== null).join(" ")}
      insertables={
        used?.secretFields.includes(name)
          ? [...insertables, ...insertableSecrets(secrets, name)]
          : insertables
      }
      key={name}
      label={name}
      onChange={(value) => onSet(["with", name], value)}
      schema={schema}
      suggestions={suggestions(step.uses ?? "", name)}
      takesSecrets={used?.secretFields.includes(name)}
      value={values[name]}
    />
  );
  const folded = properties.filter(({ name }) => !shown.has(name));
  return (
    <Section title="Input">
      {properties.filter(({ name }) => shown.has(name)).map(render)}
      {unknown.map((name) =>
        render({ name, label: name, hint: "This function has no such input.", required: false, schema: {} }),
      )}
      {folded.length > 0 ? (
        <details>
          <summary className="cursor-pointer py-1 text-accent">
            {folded.length === properties.length ? "Optional inputs" : "More inputs"}: {folded.length}
          </summary>
          <div className="mt-2 flex flex-col gap-4">{folded.map(render)}</div>
        </details>
      ) : null}
      {properties.length === 0 && unknown.length === 0 ? (
        <p className="text-muted">This function needs no input.</p>
      ) : null}
    </Section>
  );
}

const TEXT = { type: "string" };
const NUMBER = { type: "integer" };

/** When the step runs, how often, and what a failure does. */
function Flow({ step, errorAt, onSet }: StepProps) {
  const { fields, parallel } = step;
  const field = (name: string, { label, hint, schema }: { label: string; hint: string; schema: unknown }) => (
    <ValueField
      error={errorAt([name])}
      hint={hint}
      label={label}
      onChange={(value) => onSet([name], value)}
      schema={schema}
      value={fields[name]}
    />
  );
  return (
    <Section title="Flow">
      {field("if", {
        label: "Only if",
        hint: "An expression, such as input.city = 'Oslo'. Empty: always.",
        schema: TEXT,
      })}
      {parallel === null ? (
        <div className="grid gap-4 sm:grid-cols-2">
          {field("forEach", {
            label: "For each",
            hint: "An expression that gives a list. Empty: once.",
            schema: TEXT,
          })}
          {field("as", {
            label: "Item name",
            hint: "What expressions call the item. Empty: item.",
            schema: TEXT,
          })}
        </div>
      ) : null}
      <div className="grid gap-4 sm:grid-cols-3">
        {field("concurrency", { label: "At once", hint: "Items under way at once.", schema: NUMBER })}
        {parallel === null ? (
          <>
            {field("retries", {
              label: "Retries",
              hint: "Further attempts after a failure.",
              schema: NUMBER,
            })}
            {field("timeoutMs", {
              label: "Timeout in ms",
              hint: "Empty: the function's own.",
              schema: NUMBER,
            })}
          </>
        ) : null}
      </div>
      <SelectField
        error={errorAt(["onError"])}
        label="On error"
        onChange={(value) => onSet(["onError"], value === "continue" ? "continue" : undefined)}
        value={fields.onError === "continue" ? "continue" : "fail"}
      >
        <option value="fail">Fail the run</option>
        <option value="continue">Continue; the output is the error</option>
      </SelectField>
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

function propertiesOf({ input }: FunctionChoice): readonly FieldProperty[] {
  const field = readField(JSON.parse(input));
  return field.kind === "object" ? field.properties : [];
}
