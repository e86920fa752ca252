"use client";

import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { IconButton } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { TextareaField, TextField } from "@/app/_ui/forms/form";
import { RemoveIcon } from "@/app/_ui/icons";
import { useNotify } from "@/app/_ui/toast";
import type { TextProblem } from "@/server/catalog/edit-definition";
import { MoveButtons, moveButton } from "../move-buttons";
import { SchemaField } from "../schema/schema-field";
import { slugOf } from "../slug";
import { insertablesBefore } from "./insertables";
import { StepForm, type StepPath } from "./step-form";
import { type Part, SELECTED_CARD } from "./step-list";
import { moveStep, removeStep, setValue, type ToolView } from "./tool-document";
import { ValueField } from "./value-field";

type Props = {
  tool: ToolView;
  part: Part;
  /** Whether the tool is not saved yet: its slug may be chosen. */
  isNew: boolean;
  /** The problems of this part. */
  problems: readonly TextProblem[];
  /** The newest text. */
  textOf: () => string;
  onChange: (change: (before: string) => string) => void;
  onSelect: (part: Part, focus?: string) => void;
};

/** The form of a tool's input, output or one step. It changes the YAML. */
export function PartForm({ part, ...props }: Props) {
  if (part === "input") return <InputForm {...props} />;
  if (part === "output") return <OutputForm {...props} />;
  return <OneStep {...props} index={part} />;
}

type PartProps = Omit<Props, "part">;

/** Fields with a control, which shows their problems. */
const INPUT_FIELDS = new Set(["name", "slug", "description", "parameters"]);
const STEP_FIELDS = new Set([
  "id",
  "uses",
  "if",
  "forEach",
  "as",
  "concurrency",
  "retries",
  "timeoutMs",
  "onError",
]);

const ANCHORED = "Other parts of the YAML use its anchor. Change them first.";

/** What is wrong at a path, or below it. */
function messageAt(problems: readonly TextProblem[], path: StepPath): string | undefined {
  return problems.find((problem) => path.every((key, index) => problem.path[index] === key))?.fault;
}

/** Problems that belong to no control. */
function Rest({ problems }: { problems: readonly TextProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 text-failed">
      {problems.map(({ line, message }) => (
        <li className="[overflow-wrap:anywhere]" key={`${line} ${message}`}>
          {message}
        </li>
      ))}
    </ul>
  );
}

const asText = (value: unknown) => (typeof value === "string" ? value : "");

function InputForm({ tool, isNew, problems, onChange }: PartProps) {
  const set = (name: string) => (value: string) => onChange((before) => setValue(before, [name], value));
  // The slug of a new tool follows its name until it is changed by hand.
  const follows = isNew && asText(tool.fields.slug) === slugOf(asText(tool.fields.name));
  const rename = (name: string) =>
    onChange((before) => {
      const renamed = setValue(before, ["name"], name);
      return follows ? setValue(renamed, ["slug"], slugOf(name)) : renamed;
    });
  return (
    <section aria-label="Name and input of the tool" className="flex max-w-3xl flex-col gap-4">
      <h2 className="font-semibold">Name and input</h2>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          autoFocus={isNew}
          error={messageAt(problems, ["name"])}
          label="Name"
          onChange={rename}
          value={asText(tool.fields.name)}
        />
        <TextField
          code
          disabled={!isNew}
          error={messageAt(problems, ["slug"])}
          hint={`Its name in YAML and for models.${isNew ? " It cannot be changed later." : ""}`}
          label="Slug"
          onChange={set("slug")}
          value={asText(tool.fields.slug)}
        />
      </div>
      <TextareaField
        error={messageAt(problems, ["description"])}
        hint="What it does. Models read this to decide when to use the tool."
        label="Description"
        look="prose"
        onChange={set("description")}
        value={asText(tool.fields.description)}
      />
      <SchemaField
        error={messageAt(problems, ["parameters"])}
        hint="The tool's input. Forms and models read names and descriptions."
        label="Parameters"
        noun="parameter"
        onChange={(value) => onChange((before) => setValue(before, ["parameters"], value))}
        value={tool.fields.parameters}
      />
      <Rest problems={problems.filter(({ path: [field] }) => !INPUT_FIELDS.has(String(field)))} />
    </section>
  );
}

function OutputForm({ tool, problems, onChange }: PartProps) {
  const set = (name: string) => (value: unknown) => onChange((before) => setValue(before, [name], value));
  return (
    <section aria-label="Output of the tool" className="flex max-w-3xl flex-col gap-4">
      <h2 className="font-semibold">Output</h2>
      <ValueField
        error={messageAt(problems, ["output"])}
        hint="Any JSON whose texts may hold {{ }}. Empty: the last step's output."
        insertables={insertablesBefore(tool, tool.steps.length)}
        label="Output"
        onChange={set("output")}
        schema={{}}
        value={tool.fields.output}
      />
      <SchemaField
        error={messageAt(problems, ["outputSchema"])}
        hint="What the output consists of. Empty: inferred from the output."
        isOptional
        label="Output schema"
        noun="field"
        onChange={set("outputSchema")}
        value={tool.fields.outputSchema}
      />
    </section>
  );
}

function OneStep({ tool, problems, index, textOf, onChange, onSelect }: PartProps & { index: number }) {
  const trpc = useTRPC();
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const { data: secrets = [] } = useQuery(trpc.secrets.list.queryOptions());
  const notify = useNotify();
  const step = tool.steps[index];
  if (step === undefined) return null;
  const pathTo = (path: StepPath) => ["steps", index, ...path];
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
    notify(`Step ${step?.id} is removed`, undefined, {
      label: "Undo",
      run: () => {
        onChange(removed.restore);
        onSelect(index, SELECTED_CARD);
      },
    });
  }
  const name = step.id || `step ${index + 1}`;
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
      <StepForm
        errorAt={(path) => messageAt(problems, pathTo(path))}
        functions={functions}
        onSet={(path, value) => onChange((before) => setValue(before, pathTo(path), value))}
        step={step}
        insertables={insertablesBefore(tool, index)}
        secrets={secrets.map((secret) => secret.name)}
        suggestions={(uses, input) => {
          const targets = uses === "run_tool" ? choices.tools : uses === "run_agent" ? choices.agents : [];
          return input === uses.slice("run_".length)
            ? targets.map(({ slug, name }) => ({ value: slug, name }))
            : [];
        }}
      />
      <Rest
        problems={problems.filter(
          ({ path: [, , field, input] }) =>
            !STEP_FIELDS.has(String(field)) && !(field === "with" && input !== undefined),
        )}
      />
    </section>
  );
}
