import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { ChevronDownIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { Menu, MenuItem } from "@/app/_ui/menu/menu";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { notify } from "@/app/_ui/toast";
import { CancelRunButton } from "@/app/(dashboard)/runs/cancel-run-button";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

const RerunDialog = lazy(() => import("./rerun-dialog"), "RerunDialog");

const CANCEL_WIDTH = "min-w-24";

/**
 * The actions of an open or ended run. A run of a deleted agent or tool cannot be run again. `reserve` keeps the space of buttons that appear or disappear at the end, so
 * that nothing moves under the pointer.
 */
export function RunActions({ run, reserve }: { run: RunDetail; reserve: boolean }) {
  const mayRun = useMay("member");
  if (!mayRun) return <CompareLink run={run} />;
  return (
    <>
      {!isTerminal(run.status) ? (
        <CancelRunButton className={CANCEL_WIDTH} run={run} />
      ) : reserve ? (
        <span aria-hidden="true" className={buttonClass("danger", `invisible ${CANCEL_WIDTH}`)}>
          Cancel run
        </span>
      ) : null}
      <CompareLink run={run} />
      {run.currentVersion === null ? null : <RunAgain run={run} />}
    </>
  );
}

function CompareLink({ run }: { run: RunDetail }) {
  const href = `/runs/compare?a=${run.id}`;
  usePageActions([{ label: "Compare with another run", href }]);
  return (
    <Link className={buttonClass("plain", "max-sm:hidden")} href={href}>
      Compare
    </Link>
  );
}

function RunAgain({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const router = useRouter();
  const [editing, setEditing] = useState(false);
  // The text typed in the dialog, stored here so that closing the dialog does not lose it.
  const [typed, setTyped] = useState<string | null>(null);
  const rerun = useMutation(
    trpc.runs.rerun.mutationOptions({
      onSuccess: ({ runId }) => router.push(`/runs/${runId}`),
      onError: (error) => notify("Could not start the run", describeError(error).message),
    }),
  );
  // Until the page of the new run is there: a second click would start another one.
  const busy = rerun.isPending || (rerun.isSuccess && rerun.variables.runId === run.id);
  const runAgain = () => rerun.mutate({ runId: run.id });
  const edit = () => setEditing(true);
  usePageActions(
    busy
      ? []
      : [
          { label: "Run again", run: runAgain },
          { label: "Run again with different input", run: edit },
        ],
  );
  return (
    <>
      <div className="flex">
        <Button className="rounded-r-none" disabled={busy} look="primary" onClick={runAgain}>
          {busy ? "Starting" : "Run again"}
        </Button>
        <Menu
          label="More run options"
          trigger={<ChevronDownIcon />}
          triggerClass={buttonClass("primary", "ml-px rounded-l-none px-1.5")}
        >
          <MenuItem onClick={edit}>With different input</MenuItem>
        </Menu>
      </div>
      {editing ? (
        <RerunDialog
          onClose={(left) => {
            setTyped(left);
            setEditing(false);
          }}
          run={run}
          typed={typed}
        />
      ) : null}
    </>
  );
}
