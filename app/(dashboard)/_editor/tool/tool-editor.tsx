"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import type { ShownError } from "@/app/_ui/data/query-client";
import { lazy } from "@/app/_ui/lazy";
import { useMay } from "@/app/_ui/role";
import { Segments } from "@/app/_ui/segments";
import { listCallables } from "@/app/(dashboard)/_editor/callables";
import { EditorForm } from "@/app/(dashboard)/_editor/editor-form";
import { Problems } from "@/app/(dashboard)/_editor/problems";
import { copyName } from "@/app/(dashboard)/_editor/slug";
import { useChecked } from "@/app/(dashboard)/_editor/use-checked";
import { EDITED_QUERY, type Opened, useEditor } from "@/app/(dashboard)/_editor/use-editor";
import type { TextProblem } from "@/server/catalog/edit-definition";
import type { Callable } from "./catalogue";
import { NEW_TOOL } from "./new-tool";
import { PartForm } from "./part-form";
import { type Part, StepList } from "./step-list";
import { freeStepId, insertStep, readTool, setValue } from "./tool-document";
import { YamlField } from "./yaml-field";

/** Creates a tool. */
export function NewTool() {
  return <ToolForm back={{ href: "/tools", label: "Tools" }} opened={null} saved={NEW_TOOL} />;
}

/** Creates a tool that begins as a copy of another. */
export function CopyTool({ toolId }: { toolId: string }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.definitions.editTool.queryOptions({ toolId }, EDITED_QUERY));
  const copy = copyName(data);
  const saved = setValue(setValue(data.yaml, ["slug"], copy.slug), ["name"], copy.name);
  const back = { href: `/tools/${toolId}`, label: data.name };
  return <ToolForm back={back} copied={toolId} opened={null} saved={saved} />;
}

/** Edits a tool; saving makes a new version. */
export function EditTool({ toolId }: { toolId: string }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.definitions.editTool.queryOptions({ toolId }, EDITED_QUERY));
  const { yaml, version, name } = data;
  const back = { href: `/tools/${toolId}`, label: name };
  return <ToolForm back={back} opened={{ id: toolId, version }} saved={yaml} />;
}

/** What only some use is loaded with the first use. */
const TryPanel = lazy(() => import("./try-panel"), "TryPanel");
const Catalogue = lazy(() => import("./catalogue"), "Catalogue");

const readText = (stored: unknown) => (typeof stored === "string" ? stored : null);
const fieldsOf = (yaml: string) => new Map([["definition", yaml]]);
const LABELS = { "/line": "Line" };

/** The steps as a list with a form, and the YAML: both edit the same text. */
function ToolForm({
  opened,
  copied = null,
  saved,
  back,
}: {
  opened: Opened;
  copied?: string | null;
  saved: string;
  back: { href: string; label: string };
}) {
  const client = useTRPCClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const mayEdit = useMay("member");
  const [view, setView] = useState<"form" | "yaml">("form");
  const [chosen, setSelected] = useState<Part>(opened === null ? "input" : 0);
  const [adding, setAdding] = useState(false);
  const editor = useEditor({
    kind: "tool",
    opened,
    copied,
    saved,
    read: readText,
    labels: LABELS,
    save: (yaml, how) => client.definitions.saveTool.mutate({ yaml, ...how }),
    onRefused: showFirst,
  });
  const { value: yaml, change, latest } = editor.draft;
  const check = useChecked(yaml, mayEdit);
  const problems = [
    ...(check.data ?? []),
    ...(editor.refused?.value === yaml ? readRefusal(editor.refused.issues, check.data ?? []) : []),
  ];
  const tool = useMemo(() => readTool(yaml), [yaml]);
  const callables = useCallables();
  const steps = tool?.steps ?? [];
  const selected = typeof chosen === "number" && chosen >= steps.length ? "input" : chosen;
  const lines = typeof selected === "number" ? steps[selected]?.lines : undefined;

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
    const area = field.current;
    if (!area) return;
    area.focus();
    if (line === null) return;
    const before = area.value.split("\n").slice(0, line - 1);
    const start = before.reduce((sum, { length }) => sum + length + 1, 0);
    area.setSelectionRange(start, start + (area.value.slice(start).split("\n")[0] ?? "").length);
  }
  // What gets the focus when the selected part is shown, as a CSS selector: an act may have removed what had it.
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
  function add({ id, step }: Callable) {
    const index = typeof selected === "number" ? selected + 1 : steps.length;
    change((before) => insertStep(before, index, { id: freeStepId(before, id), ...step }));
    setAdding(false);
    select(index, "[data-part] input");
  }
  return (
    <EditorForm back={back} editor={editor} fieldsOf={fieldsOf} problems={problems.length}>
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
          {mayEdit ? <Problems check={check} onShow={showLine} problems={problems} /> : null}
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
              label="Definition as YAML"
              lines={problems.flatMap(({ line }) => line ?? [])}
              marked={lines}
              onChange={(text) => change(() => text)}
              ref={field}
              value={yaml}
            />
          ) : tool === null ? null : (
            <PartForm
              isNew={opened === null}
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
        {mayEdit && tool !== null ? (
          <aside className="min-w-0 border-line px-4 py-4 max-xl:border-t sm:px-6 lg:max-xl:col-span-2 xl:border-l xl:bg-surface">
            <TryPanel
              editor={editor}
              step={typeof selected === "number" ? (steps[selected] ?? null) : null}
              tool={tool}
            />
          </aside>
        ) : null}
      </div>
      {adding ? (
        <Catalogue
          callables={callables}
          onClose={() => setAdding(false)}
          onPick={add}
          title={typeof selected === "number" ? `Add a step after ${steps[selected]?.id}` : "Add a last step"}
        />
      ) : null}
    </EditorForm>
  );
}

function useCallables(): Callable[] {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  return useMemo(() => listCallables(functions, choices.tools), [functions, choices]);
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
