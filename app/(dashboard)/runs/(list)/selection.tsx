import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { notify } from "@/app/_ui/toast";
import { isTerminal } from "@/server/contract/enums";
import { MAX_RUNS_PER_CALL } from "@/server/runs/read/enums";
import type { RunSummary } from "@/server/runs/read/list";
import { chunk } from "./new-runs";

const ConfirmDialog = lazy(() => import("@/app/_ui/forms/form-dialog"), "ConfirmDialog");

/** Selects or deselects a run; with `through`, also all runs between it and the last one selected. */
export type Select = (id: string, selected: boolean, through: boolean) => void;

/** The selected runs among those in the list, in the list's order. */
export function useSelection(listed: RunSummary[]) {
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const select: Select = (id, selected, through) => {
    const ids = listed.map((run) => run.id);
    const [from = -1, to = -1] = [ids.indexOf(id), ids.indexOf(last.current ?? "")].sort((a, b) => a - b);
    const meant = new Set(through && from >= 0 ? ids.slice(from, to + 1) : [id]);
    last.current = id;
    setSelection((before) => {
      const others = [...before].filter((each) => !meant.has(each));
      return new Set(selected ? [...others, ...meant] : others);
    });
  };
  return { selection, select, clear: () => setSelection(new Set()) };
}

/** Actions for the selected runs, at the foot of the window, so that nothing moves. */
export function SelectionBar({ runs, onClear }: { runs: RunSummary[]; onClear: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const [asking, setAsking] = useState(false);
  const open = runs.filter((run) => !isTerminal(run.status) && !run.cancelRequested);
  const cancel = useMutation({
    meta: { refresh: [trpc.runs.list.pathKey()] },
    async mutationFn() {
      let count = 0;
      for (const part of chunk(open, MAX_RUNS_PER_CALL)) {
        const { found } = await client.runs.cancel.mutate({ runIds: part.map(({ id }) => id) });
        count += found;
      }
      return count;
    },
    onSuccess(count) {
      notify(describeCancelled(count));
      setAsking(false);
      onClear();
    },
  });
  if (runs.length === 0) return null;
  const act = `Cancel ${formatPlural(open.length, "run")}`;
  // In the list's order.
  const [newer, older] = runs;
  return (
    <div className="pointer-events-none fixed inset-x-0 bottom-4 z-20 flex justify-center md:left-52">
      <section
        aria-label="Selected runs"
        className="pointer-events-auto flex h-11 items-center gap-3 rounded-lg border border-line-strong bg-raised pr-1.5 pl-4 shadow-raised"
      >
        <span aria-live="polite">{runs.length} selected</span>
        {open.length === 0 ? (
          <span className="text-muted">{runs.length === 1 ? "it has ended" : "all have ended"}</span>
        ) : (
          <Button aria-haspopup="dialog" look="danger" onClick={() => setAsking(true)}>
            {act}
          </Button>
        )}
        {older && newer && runs.length === 2 ? (
          <Link className={buttonClass()} href={`/runs/compare?a=${older.id}&b=${newer.id}`}>
            Compare
          </Link>
        ) : null}
        <Button look="quiet" onClick={onClear}>
          Clear
        </Button>
      </section>
      {asking && open.length > 0 ? (
        <ConfirmDialog
          act={act}
          acting="Cancelling"
          dismiss="Keep running"
          mutation={cancel}
          onClose={() => setAsking(false)}
          onConfirm={() => cancel.mutate()}
          title="Cancel the selected runs"
        >
          <p>
            The calls in progress are interrupted, and later steps are not executed. What the runs used so far
            is charged.
          </p>
        </ConfirmDialog>
      ) : null}
    </div>
  );
}

export function describeCancelled(count: number): string {
  return count === 0 ? "No run was open" : `Cancelling ${formatPlural(count, "run")}`;
}
