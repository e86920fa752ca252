"use client";

import { skipToken, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Button } from "@/app/_ui/button";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import type { ShownError } from "@/app/_ui/data/query-client";
import type { EditorHandle } from "@/app/_ui/editor/code-editor";
import { lazy } from "@/app/_ui/lazy";
import { Segments } from "@/app/_ui/segments";
import { notify } from "@/app/_ui/toast";
import type { TextIssue } from "@/server/catalog/edit-definition";
import { EditorForm } from "../editor-form";
import { copyName } from "../slug";
import { EDITED_QUERY, type EditorProps, useEditor } from "../use-editor";
import { addBeside } from "./add-beside";
import { type Callable, Catalog } from "./catalog";
import { FoldingList } from "./folding-list";
import { LastOutputsContext, useLastOutputs } from "./knowledge/last-outputs";
import { usePins } from "./knowledge/pins";
import { useRenames } from "./knowledge/renames";
import { InputPartForm, OutputPartForm, type PartProps } from "./part-form";
import { controlAt, partOf } from "./problems/problem-place";
import { describeProblem, type ShownProblem } from "./problems/problem-sentence";
import { Problems, useChecked } from "./problems/problems";
import { readRejection } from "./problems/rejection";
import { repairProblem } from "./problems/repair";
import { useAside } from "./problems/use-aside";
import { EMPTY_TOOL, type ToolStarter, ToolStarterLinks } from "./starters";
import { type StepActions, StepForm } from "./step/step-form";
import { type Part, StepList } from "./step-list";
import {
  ANCHORED,
  freeStepId,
  insertStep,
  moveStep,
  readTool,
  setValue,
  type ToolView,
} from "./tool-document";
import { useFocusAfterRender } from "./use-focus-after-render";
import { YamlField } from "./yaml-field";

const TryPanel = lazy(() => import("./try/try-panel"), "TryPanel");

const isText = (stored: unknown): stored is string => typeof stored === "string";
const fieldsOf = (yaml: string) => new Map([["definition", yaml]]);
const LABELS = { "/definition": "Definition" };

/** Creates, copies or edits a tool; saving makes a new version. The form and the YAML edit the same text. */
export function ToolEditor({ mode, id, starter }: EditorProps & { starter?: ToolStarter | undefined }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data: existing } = useQuery(
    trpc.definitions.editTool.queryOptions(id === null ? skipToken : { toolId: id }, EDITED_QUERY),
  );
  const field = useRef<EditorHandle>(null);
  const [view, setView] = useState<"form" | "yaml">("form");
  const [chosen, setSelected] = useState<Part>(mode === "edit" ? 0 : "input");
  const [adding, setAdding] = useState<Adding | null>(null);
  const editor = useEditor({
    kind: "tool",
    mode,
    id,
    existing: existing && {
      version: existing.version,
      unversioned: { name: existing.name, description: existing.description },
    },
    starter: starter?.slug,
    saved: useMemo(() => initialYaml(existing, { mode, starter }), [existing, mode, starter]),
    isValue: isText,
    labels: LABELS,
    save: (yaml, how) => client.definitions.saveTool.mutate({ yaml, ...how }),
    onRejected: showFirst,
  });
  const { value: yaml, change, latest } = editor.draft;
  const check = useChecked(yaml);
  const tool = useMemo(() => readTool(yaml), [yaml]);
  // An empty tool shows no problems until it is saved.
  const isStarted = yaml !== EMPTY_TOOL;
  const problems = [
    ...(isStarted || editor.rejected !== null ? (check.data ?? []) : []),
    ...(editor.rejected?.value === yaml ? readRejection(editor.rejected, check.data ?? []) : []),
  ].map((problem) => describeProblem(problem, tool));
  const { rename, ...asideInputs } = useAside();
  const [ended, setEnded] = useState<string | null>(null);
  const pinState = usePins(editor.opened?.id ?? null);
  const renameState = useRenames();
  const lastOutputs = useLastOutputs(editor.opened?.id ?? null, {
    ended,
    pins: pinState.pins,
    renames: renameState.renames,
  });
  const steps = tool?.steps ?? [];
  const step = typeof chosen === "number" ? (steps[chosen] ?? null) : null;
  const selected = typeof chosen === "number" && step === null ? "input" : chosen;

  const problemsIn = (part: Part) => problems.filter(({ path }) => partOf(path) === part);
  function showFirst(issues: ShownError["issues"]) {
    const show = (found: readonly TextIssue[]) => {
      const [first] = [...found, ...readRejection({ value: yaml, issues }, found)];
      if (first !== undefined) showProblem(describeProblem(first, tool));
    };
    if (check.data !== undefined) return show(check.data);
    // Only the check knows the fields.
    void check.refetch({ cancelRefetch: false }).then(({ data }) => show(data ?? []));
  }
  function showProblem({ path, line }: ShownProblem) {
    const part = partOf(path);
    if (part !== null) setSelected(part);
    if (view === "yaml" || part === null) return showLine(line);
    select(part, controlAt(path));
  }
  function repair(problem: ShownProblem) {
    const before = latest().value;
    const repaired = repairProblem(before, problem);
    if (repaired === before) return;
    change(() => repaired);
    notify(problem.repaired, undefined, {
      label: "Undo",
      run: () => change((later) => (later === repaired ? before : later)),
    });
  }
  function showLine(line: number | null) {
    // The field must be there to take the focus.
    flushSync(() => setView("yaml"));
    field.current?.showLine(line);
  }
  const focusAfterRender = useFocusAfterRender();
  function select(part: Part, focus: string | null = null) {
    setSelected(part);
    setView("form");
    focusAfterRender(focus);
  }
  function add({ index, isBeside }: Adding, { stepId, step: called }: Callable) {
    const before = latest().value;
    const added = { id: freeStepId(before, stepId), ...called };
    setAdding(null);
    if (!isBeside) {
      change(() => insertStep(before, index, added));
      select(index, "[data-part] input");
      return;
    }
    const { text, member } = addBeside(before, index, added);
    change(() => text);
    select(index, `[data-member="${member}"] input`);
  }
  function move(from: number, to: number, focus: string) {
    if (to < 0 || to >= steps.length) return;
    const before = latest().value;
    const moved = moveStep(before, from, to);
    if (moved === before) return notify("The step was not moved", ANCHORED);
    change(() => moved);
    select(to, focus);
  }
  return (
    <LastOutputsContext value={lastOutputs}>
      <EditorForm
        editor={problems.length === 0 ? editor : { ...editor, problems: { ...editor.problems, rest: null } }}
        fieldsOf={fieldsOf}
        problems={problems.length}
      >
        <div className="grid flex-1 lg:grid-cols-[18rem_minmax(0,1fr)] xl:grid-cols-[18rem_minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-4 border-line bg-surface px-4 py-4 max-lg:border-b sm:px-6 lg:border-r">
            {tool === null ? (
              <p>The YAML has a syntax error. Correct it to see the steps.</p>
            ) : (
              <FoldingList selected={selected} tool={tool}>
                {(fold) => (
                  <StepList
                    hasProblem={(part) => problemsIn(part).length > 0}
                    onAdd={(index) => setAdding({ index, isBeside: false })}
                    onMove={move}
                    onSelect={(part) => {
                      fold();
                      select(part);
                    }}
                    pins={pinState.pins}
                    selected={selected}
                    tool={tool}
                  />
                )}
              </FoldingList>
            )}
            <Problems {...{ view, check, problems }} onRepair={repair} onShow={showProblem} />
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
            ) : tool === null ? (
              <div className="flex flex-col items-start gap-3">
                <p>The form cannot be shown, because the YAML has a syntax error.</p>
                <Button onClick={() => showLine(problems[0]?.line ?? null)}>Correct the YAML</Button>
              </div>
            ) : (
              <>
                {mode === "new" && !isStarted ? <ToolStarterLinks /> : null}
                <PartForm
                  aside={{
                    ...asideInputs,
                    rename(from, to) {
                      rename(from, to);
                      pinState.rename(from, to);
                      renameState.add(from, to);
                    },
                  }}
                  isNew={editor.opened === null}
                  key={String(selected)}
                  onAddBeside={(index) => setAdding({ index, isBeside: true })}
                  onChange={change}
                  onMove={move}
                  onRepair={repair}
                  onSelect={select}
                  part={selected}
                  problems={problemsIn(selected)}
                  textOf={() => latest().value}
                  tool={tool}
                />
              </>
            )}
          </div>
          {tool !== null ? (
            <aside className="min-w-0 border-line px-4 py-4 max-xl:border-t sm:px-6 lg:max-xl:col-span-2 xl:border-l xl:bg-surface">
              <TryPanel onEnd={setEnded} {...{ editor, pinState, renameState, step, tool }} />
            </aside>
          ) : null}
        </div>
        {adding === null ? null : (
          <Catalog
            onClose={() => setAdding(null)}
            onPick={(callable) => add(adding, callable)}
            title={titleOfAdding(steps, adding)}
          />
        )}
      </EditorForm>
    </LastOutputsContext>
  );
}

type Adding = { index: number; isBeside: boolean };

function titleOfAdding(steps: ToolView["steps"], { index, isBeside }: Adding): string {
  if (isBeside) return `Add a step beside ${steps[index]?.id || `step ${index + 1}`}`;
  const before = steps[index - 1];
  if (before !== undefined) return `Add a step after ${before.id || `step ${index}`}`;
  return steps.length === 0 ? "Add a step" : "Add a first step";
}

function PartForm({ part, isNew, ...props }: PartProps & StepActions & { part: Part; isNew: boolean }) {
  if (part === "input") return <InputPartForm {...props} isNew={isNew} />;
  if (part === "output") return <OutputPartForm {...props} />;
  const step = props.tool.steps[part];
  return step ? <StepForm {...props} index={part} step={step} /> : null;
}

function initialYaml(
  existing: { yaml: string; slug: string; name: string } | undefined,
  { mode, starter }: { mode: EditorProps["mode"]; starter: ToolStarter | undefined },
): string {
  if (existing === undefined) return starter?.yaml ?? EMPTY_TOOL;
  if (mode === "edit") return existing.yaml;
  const { slug, name } = copyName(existing);
  return setValue(setValue(existing.yaml, ["slug"], slug), ["name"], name);
}
