"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Button } from "@/app/_ui/button";
import { formatPlural } from "@/app/_ui/format";
import { useTRPC } from "@/app/_ui/providers";
import { describeError } from "@/app/_ui/query-client";
import { useNotify } from "@/app/_ui/toast";
import type { RunSummary } from "@/server/runs/list";
import { isTerminal } from "@/server/runs/words";

/** The runs that the reader has ticked. */
export function useSelection() {
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const select = useCallback((id: string, selected: boolean) => {
    setSelection((before) => {
      const after = new Set(before);
      if (selected) after.add(id);
      else after.delete(id);
      return after;
    });
  }, []);
  const clear = useCallback(() => setSelection(new Set()), []);
  return { selection, select, clear };
}

/** What can be done with the ticked runs; floats over the list, so that nothing moves. */
export function SelectionBar({ runs, onClear }: { runs: RunSummary[]; onClear: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const open = runs.filter((run) => !isTerminal(run.status) && !run.cancelRequested);
  const cancel = useMutation(
    trpc.runs.cancel.mutationOptions({
      onSuccess: ({ found }) => {
        notify(`Cancelling ${formatPlural(found, "run")}`);
        onClear();
        void queryClient.invalidateQueries({ queryKey: trpc.runs.list.pathKey() });
      },
      onError: (error) => notify("The runs could not be cancelled", describeError(error).message),
    }),
  );
  if (runs.length === 0) return null;
  return (
    <div className="sticky bottom-4 z-20 flex h-0 justify-center">
      <section
        aria-label="Selected runs"
        className="flex h-11 -translate-y-11 items-center gap-3 rounded-lg border border-line-strong bg-raised pr-1.5 pl-4 shadow-raised"
      >
        <span aria-live="polite">{runs.length} selected</span>
        <Button
          disabled={open.length === 0 || cancel.isPending}
          look="danger"
          onClick={() => cancel.mutate({ runIds: open.map((run) => run.id) })}
        >
          {open.length === 0 ? "All have ended" : `Cancel ${formatPlural(open.length, "run")}`}
        </Button>
        <Button look="quiet" onClick={onClear}>
          Clear
        </Button>
      </section>
    </div>
  );
}
