"use client";

import { type QueryKey, type UseMutationOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { describeError } from "@/app/_ui/data/query-client";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { notify } from "@/app/_ui/toast";
import { useClose } from "@/app/_ui/use-dialog";

type Options<Draft, Result> = {
  draft: Draft;
  /** By JSON pointer in the sent value. */
  labels?: Record<string, string>;
  refresh?: readonly { pathKey: () => QueryKey }[];
  /** Called on success. Returns the message; null: none, undefined: keep the dialog open. */
  done?: (result: Result) => string | readonly [title: string, description: string] | null | undefined;
  /** Called if something else is stored than the form was opened with, after the refresh. */
  onConflict?: () => void;
  onClose?: () => void;
};

/**
 * A form's mutation, draft and errors. `dialog` has props of `FormDialog` and `ConfirmDialog`, `field` those of one
 * field's control.
 */
export function useForm<Result, Failure, Sent, Draft extends object>(
  mutationOptions: UseMutationOptions<Result, Failure, Sent>,
  { draft: initial, labels = {}, refresh = [], done, onConflict, ...options }: Options<Draft, Result>,
) {
  const close = useClose();
  const { onClose = close } = options;
  const [draft, setDraft] = useState(initial);
  const [issues, setIssues] = useState<Record<string, string>>({});
  const queryClient = useQueryClient();
  const refreshed = refresh.map((query) => query.pathKey());
  const mutation = useMutation({
    ...mutationOptions,
    meta: { refresh: refreshed },
    async onError(...failure) {
      void mutationOptions.onError?.(...failure);
      if (describeError(failure[0]).code !== "conflict") return;
      // Else the form that is opened again could be as old as this one.
      await Promise.all(refreshed.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
      onConflict?.();
    },
    onSuccess(result) {
      const notice = done?.(result);
      if (notice === undefined) return;
      if (typeof notice === "string") notify(notice);
      else if (notice !== null) notify(...notice);
      onClose();
    },
  });
  const problems = readProblems(mutation.error, labels, mutation.variables);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const errorAt = (path: string) => issues[path] ?? problems.at(path);
  return {
    draft,
    change,
    errorAt,
    result: mutation.data,
    sent: mutation.variables,
    dialog: { mutation, problem: problems.rest, onClose },
    field: <Name extends keyof Draft & string>(name: Name) => ({
      label: labels[`/${name}`] ?? name,
      error: errorAt(`/${name}`),
      value: draft[name],
      onChange: (value: Draft[Name]) => setDraft((before) => ({ ...before, [name]: value })),
    }),
    /** `found`: the form's own issues by JSON pointer; they prevent the call. */
    send(input: Sent, found: Record<string, string> = {}) {
      setIssues(found);
      if (Object.keys(found).length === 0) mutation.mutate(input);
    },
  };
}
