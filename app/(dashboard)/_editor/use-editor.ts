"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { inferRouterInputs } from "@trpc/server";
import { useRouter } from "next/navigation";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError, type ShownError } from "@/app/_ui/data/query-client";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { notify } from "@/app/_ui/toast";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import type { SavedDefinition } from "@/server/catalog/save-versioned";
import type { RunKind } from "@/server/contract/enums";
import { type Draft, type Opened, useDraft } from "./use-draft";

/** The subject of an editor: nothing yet, a copy of an agent or tool, or the agent or tool itself. */
export type EditorProps = { mode: "new" | "copy" | "edit"; id: string | null };

type SaveOptions = Omit<inferRouterInputs<DashboardRouter>["definitions"]["saveTool"], "yaml">;

type FirstRun = { input: string; start: (id: string) => Promise<{ runId: string }> };

type Tried = { runId: string; input: string };
const triedKey = (kind: RunKind, id: string | null) => ["tried", kind, id];

/** Queries of edited data are not refetched automatically, only after a save or a rejection. */
export const EDITED_QUERY = { staleTime: Number.POSITIVE_INFINITY };

/** State that the editors of agents and tools share: the draft, saving it, and its issues. */
export function useEditor<Value>({
  kind,
  mode,
  id,
  existing,
  starter,
  saved,
  isValue,
  follow,
  labels,
  save,
  onRejected,
}: EditorProps & {
  kind: RunKind;
  existing: (Opened & { unversioned: { name: string } }) | undefined;
  starter?: string | undefined;
  saved: Value;
  /** Must not change between renders. */
  isValue: (stored: unknown) => stored is Value;
  follow?: (draft: Draft<Value>) => Draft<Value>;
  /** By JSON pointer. */
  labels: Record<string, string>;
  save: (value: Value, options: SaveOptions) => Promise<SavedDefinition>;
  onRejected?: (issues: ShownError["issues"]) => void;
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const opened = mode === "edit" && id && existing ? { id, ...existing } : null;
  const copied = id ?? starter;
  const draft = useDraft({
    name: `${kind}.${opened?.id ?? (copied === undefined ? "new" : `copy.${copied}`)}`,
    opened: opened && { version: opened.version, unversioned: opened.unversioned },
    saved,
    isValue,
    follow,
  });
  const [tried] = useState(() => queryClient.getQueryData<Tried>(triedKey(kind, id)));
  const [note, setNote] = useState("");
  const isSaving = useRef(false);
  const mutation = useMutation({
    mutationFn: async ({ value, opened: from }: Draft<Value> & { run: FirstRun | null }) => {
      const expected: SaveOptions["expected"] =
        opened === null || from === null
          ? { only: "create" }
          : { only: "update", id: opened.id, version: from.version, replaces: from.unversioned };
      const result = await save(value, { expected, note: note.trim() });
      setNote((now) => (now === note ? "" : now));
      // If the draft stayed after the save, it would appear to conflict with it.
      return { ...result, typed: draft.end(value, `${kind}.${result.id}`) };
    },
    meta: { refresh: [trpc.definitions.pathKey(), trpc.catalog.pathKey()] },
    onSuccess: async ({ id, version, saved: what, typed }, { run }) => {
      notify(
        opened === null ? `The ${kind} was created` : `The ${kind} was saved`,
        what === "unchanged" ? "Nothing had changed." : `Version ${version} is current.`,
      );
      if (run !== null) await startFirstRun(id, run);
      if (opened !== null && typed) return;
      router.push(run === null && !typed ? `/${kind}s/${id}` : `/${kind}s/${id}/edit`);
    },
    onError: (error) => {
      isSaving.current = false;
      // Shows if another person has saved a newer version.
      void queryClient.invalidateQueries({ queryKey: trpc.definitions.pathKey() });
      onRejected?.(describeError(error).issues);
    },
  });
  async function startFirstRun(id: string, run: FirstRun) {
    try {
      const { runId } = await run.start(id);
      queryClient.setQueryData<Tried>(triedKey(kind, id), { runId, input: run.input });
    } catch (error) {
      notify("Could not start the first run", describeError(error).message);
    }
  }
  const continues = opened !== null && mutation.data?.typed === true;
  const continueEditing = useEffectEvent(() => {
    isSaving.current = false;
    // Another person may have saved a newer version since.
    draft.rebase(mutation.data?.version);
    mutation.reset();
  });
  // An effect: `opened` is what was saved once it is rendered.
  useEffect(() => {
    if (continues) continueEditing();
  }, [continues]);
  function submit(run: FirstRun | null = null) {
    if (isSaving.current) return;
    isSaving.current = true;
    mutation.mutate({ ...draft.latest(), run });
  }
  const busy = mutation.isPending || mutation.isSuccess;
  return {
    kind,
    opened,
    back: existing
      ? { href: `/${kind}s/${id}`, label: existing.unversioned.name }
      : { href: `/${kind}s`, label: kind === "agent" ? "Agents" : "Tools" },
    saved,
    draft,
    note,
    setNote,
    /** The change that another person saved since the draft began. Null while saving, because it may be our own. */
    newer: opened !== null && !busy ? newerThan(draft.opened, opened) : null,
    busy,
    problems: readProblems(mutation.error, labels),
    rejected: mutation.isError
      ? { value: mutation.variables.value, issues: describeError(mutation.error).issues }
      : null,
    tried: opened === null ? undefined : tried,
    submit,
    discard() {
      const run = draft.discard();
      mutation.reset();
      notify("Draft discarded", undefined, { label: "Undo", run });
    },
    rebase() {
      draft.rebase();
      mutation.reset();
    },
  };
}

/** `version`: null if only fields without versions differ. */
function newerThan(
  opened: Opened | null,
  { version, unversioned }: Opened,
): { version: number | null } | null {
  if (opened === null || opened.version !== version) return { version };
  const differs = Object.entries(unversioned).some(([field, text]) => opened.unversioned[field] !== text);
  return differs ? { version: null } : null;
}

export type Editor<Value> = ReturnType<typeof useEditor<Value>>;
