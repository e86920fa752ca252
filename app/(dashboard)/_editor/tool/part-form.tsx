"use client";

import { TextareaField, TextField } from "@/app/_ui/forms/form";
import { valueAt } from "@/server/base/json/json";
import { ANY } from "../../_schema/field";
import { SchemaField } from "../schema/schema-field";
import { rename } from "../slug";
import { ValueField } from "../value-field";
import { insertablesBefore } from "./knowledge/insertables";
import { scopeOf } from "./knowledge/tool-completions";
import { useToolKnowledge } from "./knowledge/use-tool-knowledge";
import type { ShownProblem } from "./problems/problem-sentence";
import { RepairLinks } from "./problems/repair-links";
import type { AsideInputs } from "./problems/use-aside";
import type { Part } from "./step-list";
import { type Path, setValue, type ToolView } from "./tool-document";

/** Props of the form of a tool's input, its output or one step. The form changes the YAML. */
export type PartProps = {
  tool: ToolView;
  problems: readonly ShownProblem[];
  aside: AsideInputs;
  textOf: () => string;
  onChange: (change: (before: string) => string) => void;
  onSelect: (part: Part, focus?: string) => void;
  onRepair: (problem: ShownProblem) => void;
};

/** The props of the control for the value at a path: the value, and the issues in it or below it. */
export function fieldAt({ tool, problems, onChange }: PartProps, path: Path) {
  return {
    value: path.reduce<unknown>(valueAt, tool.fields),
    error: problems.find((problem) => path.every((key, index) => problem.path[index] === key))?.sentence,
    onChange: (value: unknown) => onChange((before) => setValue(before, path, value)),
  };
}

/** The same for an editor, with the places of the issues in the value. */
export function valueFieldAt(props: PartProps, path: Path) {
  const within = props.problems.filter((problem) => path.every((key, index) => problem.path[index] === key));
  return {
    ...fieldAt(props, path),
    problems: within.map(({ path: full, sentence }) => ({
      path: full.slice(path.length),
      message: sentence,
    })),
  };
}

/** The same for a control that edits a text. */
export function textFieldAt(props: PartProps, path: Path) {
  const { value, ...field } = fieldAt(props, path);
  return { ...field, value: typeof value === "string" ? value : "" };
}

/** Problems that belong to no control. */
export function Rest({ problems }: { problems: readonly ShownProblem[] }) {
  return (
    <ul className="flex flex-col gap-1 text-failed empty:hidden">
      {problems.map(({ line, sentence }) => (
        <li className="[overflow-wrap:anywhere]" key={`${line} ${sentence}`}>
          {sentence}
        </li>
      ))}
    </ul>
  );
}

const INPUT_FIELDS = new Set(["name", "slug", "description", "parameters"]);

/** `isNew`: the tool is not saved yet, so its slug may be chosen. */
export function InputPartForm({ isNew, ...props }: PartProps & { isNew: boolean }) {
  const name = textFieldAt(props, ["name"]);
  const slug = textFieldAt(props, ["slug"]);
  return (
    <section aria-label="Name and input of the tool" className="flex max-w-3xl flex-col gap-4">
      <h2 className="font-semibold">Name and input</h2>
      <div className="grid gap-4 sm:grid-cols-2">
        <div data-field="name">
          <TextField
            {...name}
            autoFocus={isNew}
            label="Name"
            onChange={(text) => {
              const renamed = rename({ name: name.value, slug: slug.value }, text);
              name.onChange(text);
              if (isNew && renamed.slug !== slug.value) slug.onChange(renamed.slug);
            }}
          />
        </div>
        <div data-field="slug">
          <TextField
            {...slug}
            code
            disabled={!isNew}
            hint={`Its name in YAML and for models.${isNew ? " It cannot be changed later." : ""}`}
            label="Slug"
          />
        </div>
      </div>
      <TextareaField
        {...textFieldAt(props, ["description"])}
        hint="What it does. Models read this to decide when to use the tool."
        label="Description"
      />
      <SchemaField
        {...valueFieldAt(props, ["parameters"])}
        hint="The tool's input. Forms and models read names and descriptions."
        label="Parameters"
        noun="parameter"
      />
      <Rest problems={props.problems.filter(({ path: [field] }) => !INPUT_FIELDS.has(String(field)))} />
    </section>
  );
}

export function OutputPartForm(props: PartProps) {
  const { tool } = props;
  const knowledge = useToolKnowledge();
  const index = tool.steps.length;
  return (
    <section aria-label="Output of the tool" className="flex max-w-3xl flex-col gap-4">
      <h2 className="font-semibold">Output</h2>
      <ValueField
        {...valueFieldAt(props, ["output"])}
        completions={{ scopeAt: () => scopeOf(tool, knowledge, { index, takesSecrets: false }) }}
        field={ANY}
        hint="Any JSON whose texts may hold {{ }}. Empty: the last step's output."
        insertables={insertablesBefore(tool, { index }, knowledge.outputs)}
        label="Output"
      />
      <RepairLinks {...props} at={["output"]} />
      <SchemaField
        {...valueFieldAt(props, ["outputSchema"])}
        hint="What the output consists of. Empty: inferred from the output."
        isOptional
        label="Output schema"
        noun="field"
      />
    </section>
  );
}
