"use client";

import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import { useTRPC } from "@/app/_ui/providers";
import { describeError } from "@/app/_ui/query-client";
import { useNotify } from "@/app/_ui/toast";
import type { TextProblem } from "@/server/catalog/edit-definition";
import { EditorBar } from "./editor-bar";
import { EditorHead } from "./editor-head";
import { FunctionList } from "./function-list";
import { NEW_TOOL } from "./new-tool";
import { useDraft } from "./use-draft";
import { YamlField } from "./yaml-field";

/** Creates a tool. */
export function NewTool() {
  const back = { href: "/tools", label: "Tools" };
  return <ToolForm back={back} saved={NEW_TOOL} toolId={null} version={null} />;
}

/** Edits a tool as YAML; saving makes a new version. */
export function EditTool({ toolId }: { toolId: string }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.definitions.editTool.queryOptions({ toolId }, { staleTime: 0 }));
  const { yaml, version, name } = data;
  const back = { href: `/tools/${toolId}`, label: name };
  return <ToolForm back={back} key={version} saved={yaml} toolId={toolId} version={version} />;
}

const readText = (stored: unknown) => (typeof stored === "string" ? stored : null);

/** Problems are looked for when typing has paused for this long. */
const PAUSE_MS = 400;

function ToolForm({
  toolId,
  version,
  saved,
  back,
}: {
  toolId: string | null;
  version: number | null;
  saved: string;
  back: { href: string; label: string };
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  const queryClient = useQueryClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = useDraft(toolId === null ? "tool.new" : `tool.${toolId}.${version}`, saved, readText);
  const checked = usePaused(draft.value, PAUSE_MS);
  const { data: problems = [] } = useQuery(
    trpc.definitions.checkTool.queryOptions({ yaml: checked }, { placeholderData: keepPreviousData }),
  );
  const save = useMutation(
    trpc.definitions.saveTool.mutationOptions({
      onSuccess: async (tool) => {
        draft.discard();
        await Promise.all([
          queryClient.invalidateQueries({ queryKey: trpc.definitions.pathKey() }),
          queryClient.invalidateQueries({ queryKey: trpc.catalog.pathKey() }),
        ]);
        const what =
          tool.saved === "unchanged" ? "Nothing had changed" : `Version ${tool.version} is current`;
        notify(toolId === null ? "The tool was created" : "The tool was saved", what);
        router.push(`/tools/${tool.id}`);
      },
      // With problems, saving leads to the first one.
      onError: () => field.current?.focus(),
    }),
  );
  const submit = () => {
    const only = toolId === null ? "create" : "update";
    save.mutate({ yaml: draft.value, expected: version === null ? { only } : { only, version } });
  };
  return (
    <form
      className="flex min-h-[calc(100dvh-3rem)] flex-col md:min-h-dvh"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <EditorHead
        back={back}
        note={version === null ? "" : `from v${version}`}
        title={toolId === null ? "New tool" : "Edit tool"}
      />
      <div className="grid flex-1 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0 px-4 py-4 sm:px-6">
          <YamlField
            label="Definition as YAML"
            lines={problems.flatMap(({ line }) => line ?? [])}
            onChange={draft.set}
            ref={field}
            value={draft.value}
          />
        </div>
        <aside className="flex flex-col gap-5 border-line px-4 py-4 max-lg:border-t sm:px-6 lg:border-l lg:bg-surface">
          <Problems field={field} problems={problems} />
          <FunctionList />
        </aside>
      </div>
      <EditorBar
        busy={save.isPending}
        changed={draft.changed}
        error={save.isError ? describeError(save.error) : null}
        onDiscard={() => {
          draft.discard();
          save.reset();
        }}
        onSave={submit}
        problems={problems.length}
        restored={draft.restored}
        saveLabel={version === null ? "Create tool" : "Save"}
      />
    </form>
  );
}

function Problems({
  problems,
  field,
}: {
  problems: readonly TextProblem[];
  field: React.RefObject<HTMLTextAreaElement | null>;
}) {
  function show(line: number) {
    const area = field.current;
    if (!area) return;
    const lines = area.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  }
  return (
    <section aria-label="Problems" aria-live="polite">
      <h2 className="font-semibold">{problems.length === 0 ? "No problems" : "Problems"}</h2>
      <ul className="mt-1 flex flex-col gap-1.5">
        {problems.map(({ line, message }) => (
          <li className="[overflow-wrap:anywhere]" key={`${line} ${message}`}>
            {line === null ? null : (
              <button className="mr-1.5 text-accent hover:underline" onClick={() => show(line)} type="button">
                Line {line}
              </button>
            )}
            {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The value as it was when it had not changed for `ms`. */
function usePaused(value: string, ms: number): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return paused;
}
