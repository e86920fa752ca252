"use client";

import { skipToken, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import type { ShownError } from "@/app/_ui/data/query-client";
import type { EditorHandle } from "@/app/_ui/editor/code-editor";
import { lazy } from "@/app/_ui/lazy";
import { Segments } from "@/app/_ui/segments";
import type { TextProblem } from "@/server/catalog/edit-definition";
import { EditorForm } from "../editor-form";
import { copyName } from "../slug";
import { EDITED_QUERY, type EditorProps, useEditor } from "../use-editor";
import type { Callable } from "./catalogue";
import { InputPartForm, OutputPartForm, type PartProps } from "./part-form";
import { Problems, useChecked } from "./problems";
import { StepForm } from "./step-form";
import { type Part, StepList } from "./step-list";
import { freeStepId, insertStep, readTool, setValue } from "./tool-document";
import { YamlField } from "./yaml-field";

/** Loaded when they are first shown. */
const TryPanel = lazy(() => import("./try-panel"), "TryPanel");
const Catalogue = lazy(() => import("./catalogue"), "Catalogue");

const isText = (stored: unknown): stored is string => typeof stored === "string";
const fieldsOf = (yaml: string) => new Map([["definition", yaml]]);
const LABELS = { "/line": "Line" };

/**
 * Creates a tool, from another one if it is copied, or edits one; saving makes a new version. The steps are a list with
 * a form, beside the YAML: both edit the same text.
 */
export function ToolEditor({ mode, id }: EditorProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data: existing } = useQuery(
    trpc.definitions.editTool.queryOptions(id === null ? skipToken : { toolId: id }, EDITED_QUERY),
  );
  const field = useRef<EditorHandle>(null);
  const [view, setView] = useState<"form" | "yaml">("form");
  const [chosen, setSelected] = useState<Part>(mode === "edit" ? 0 : "input");
  const [adding, setAdding] = useState(false);
  const editor = useEditor({
    kind: "tool",
    mode,
    id,
    existing,
    saved: useMemo(() => initialYaml(existing, mode), [existing, mode]),
    isValue: isText,
    labels: LABELS,
    save: (yaml, how) => client.definitions.saveTool.mutate({ yaml, ...how }),
    onRefused: showFirst,
  });
  const { value: yaml, change, latest } = editor.draft;
  const check = useChecked(yaml);
  const problems = [
    ...(check.data ?? []),
    ...(editor.refused?.value === yaml ? readRefusal(editor.refused.issues, check.data ?? []) : []),
  ];
  const tool = useMemo(() => readTool(yaml), [yaml]);
  const steps = tool?.steps ?? [];
  const step = typeof chosen === "number" ? (steps[chosen] ?? null) : null;
  const selected = typeof chosen === "number" && step === null ? "input" : chosen;

  const problemsIn = (part: Part) => problems.filter(({ path }) => partOf(path) === part);
  /** If there are problems, saving goes to the first one. A conflict is not one of them. */
  function showFirst(issues: ShownError["issues"]) {
    const [first] = [...problems, ...readRefusal(issues, [])];
    if (first === undefined) return;
    const part = partOf(first.path);
    if (part !== null) setSelected(part);
    else showLine(first.line);
  }
  function showLine(line: number | null) {
    // The field must be there to take the focus.
    flushSync(() => setView("yaml"));
    field.current?.showLine(line);
  }
  // A CSS selector of what gets the focus after the next render. The element that had it may be removed by then.
  const focusNext = useRef<string | null>(null);
  useEffect(() => {
    if (focusNext.current === null) return;
    document.querySelector<HTMLElement>(focusNext.current)?.focus();
    focusNext.current = null;
  });
  function select(part: Part, focus: string | null = null) {
    focusNext.current = focus;
    setSelected(part);
    setView("form");
  }
  function add({ stepId, step: added }: Callable) {
    const index = typeof selected === "number" ? selected + 1 : steps.length;
    change((before) => insertStep(before, index, { id: freeStepId(before, stepId), ...added }));
    setAdding(false);
    select(index, "[data-part] input");
  }
  return (
    <EditorForm editor={editor} fieldsOf={fieldsOf} problems={problems.length}>
      <div className="grid flex-1 lg:grid-cols-[18rem_minmax(0,1fr)] xl:grid-cols-[18rem_minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4 border-line bg-surface px-4 py-4 max-lg:border-b sm:px-6 lg:border-r">
          {tool === null ? (
            <p>The YAML has a syntax error. Correct it to see the steps.</p>
          ) : (
            <StepList
              faulty={(part) => problemsIn(part).length > 0}
              onAdd={() => setAdding(true)}
              onSelect={select}
              selected={selected}
              tool={tool}
            />
          )}
          <Problems check={check} onShow={showLine} problems={problems} />
        </div>
        <div className="flex min-w-0 flex-col gap-4 px-4 py-4 sm:px-6" data-part>
          <div className="flex">
            <Segments
              label="Edit as"
              onChange={setView}
              options={[
                { value: "form", label: "Form" },
                { value: "yaml", label: "YAML" },
              ]}
              value={view}
            />
          </div>
          {view === "yaml" ? (
            <YamlField
              marked={step?.lines}
              onChange={(text) => change(() => text)}
              problems={problems}
              ref={field}
              tool={tool}
              value={yaml}
            />
          ) : tool === null ? null : (
            <PartForm
              isNew={editor.opened === null}
              key={String(selected)}
              onChange={change}
              onSelect={select}
              part={selected}
              problems={problemsIn(selected)}
              textOf={() => latest().value}
              tool={tool}
            />
          )}
        </div>
        {tool !== null ? (
          <aside className="min-w-0 border-line px-4 py-4 max-xl:border-t sm:px-6 lg:max-xl:col-span-2 xl:border-l xl:bg-surface">
            <TryPanel editor={editor} step={step} tool={tool} />
          </aside>
        ) : null}
      </div>
      {adding ? (
        <Catalogue
          onClose={() => setAdding(false)}
          onPick={add}
          title={step ? `Add a step after ${step.id}` : "Add a last step"}
        />
      ) : null}
    </EditorForm>
  );
}

/** The form of the tool's input, output or one step. */
function PartForm({ part, isNew, ...props }: PartProps & { part: Part; isNew: boolean }) {
  if (part === "input") return <InputPartForm {...props} isNew={isNew} />;
  if (part === "output") return <OutputPartForm {...props} />;
  const step = props.tool.steps[part];
  return step ? <StepForm {...props} index={part} step={step} /> : null;
}

/** The definition that a new tool begins with: it works, and shows each part once. */
const NEW_TOOL = `slug: my-tool
name: My tool
description: Greets a city.
parameters:
  type: object
  properties:
    city: { type: string, description: "A city, such as Oslo" }
  required: [city]
steps:
  - id: greeting
    uses: transform_json
    with:
      value: "{{ input }}"
      expression: '"Hello " & city'
output: "{{ steps.greeting }}"
`;

/** The YAML that an editor begins with. */
function initialYaml(
  existing: { yaml: string; slug: string; name: string } | undefined,
  mode: EditorProps["mode"],
): string {
  if (existing === undefined) return NEW_TOOL;
  if (mode === "edit") return existing.yaml;
  const { slug, name } = copyName(existing);
  return setValue(setValue(existing.yaml, ["slug"], slug), ["name"], name);
}

/** The problems that only saving finds, such as a changed slug. An issue's path is `/line/N`. */
function readRefusal(issues: ShownError["issues"], found: readonly TextProblem[]): TextProblem[] {
  return issues
    .filter(({ path, message }) => path !== "" && !found.some((problem) => problem.message === message))
    .map(({ path, message }) => ({
      line: Number(path.split("/")[2]) || null,
      path: [],
      fault: message,
      message,
    }));
}

/** The part that a path in the definition belongs to; null: the whole of it. */
function partOf([field, index]: readonly (string | number)[]): Part | null {
  if (field === "steps" && typeof index === "number") return index;
  if (field === "output" || field === "outputSchema") return "output";
  return field === undefined || field === "steps" ? null : "input";
}
