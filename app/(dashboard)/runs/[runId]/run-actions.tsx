"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { ChevronDownIcon } from "@/app/_ui/icons";
import { Menu, MenuItem } from "@/app/_ui/menu";
import { usePageActions } from "@/app/_ui/page-actions";
import { useTRPC } from "@/app/_ui/providers";
import { describeError } from "@/app/_ui/query-client";
import { useMay } from "@/app/_ui/role";
import { useNotify } from "@/app/_ui/toast";
import { useWholeText } from "@/app/_ui/whole-text";
import type { RunDetail } from "@/server/runs/inspect";
import { isTerminal } from "@/server/runs/words";

const CANCEL_WIDTH = "min-w-24";

/**
 * Cancel while it runs; run again, also with another input, and compare once it has ended. `reserve` keeps the place of
 * what goes with the end of a run that somebody watches, so that nothing moves beneath the pointer.
 */
export function RunActions({ run, reserve }: { run: RunDetail; reserve: boolean }) {
  const mayRun = useMay("member");
  if (!mayRun) return <CompareLink run={run} />;
  return (
    <>
      {isTerminal(run.status) ? null : <CancelButton run={run} />}
      {isTerminal(run.status) && reserve ? (
        <span aria-hidden="true" className={buttonClass("danger", `invisible ${CANCEL_WIDTH}`)}>
          Cancel run
        </span>
      ) : null}
      <RunAgain run={run} />
      <CompareLink run={run} />
    </>
  );
}

function CompareLink({ run }: { run: RunDetail }) {
  const href = `/runs/compare?a=${run.id}`;
  usePageActions([{ label: "Compare with another run", href }]);
  return (
    <Link className={buttonClass("plain", "max-sm:hidden")} href={href} prefetch={false}>
      Compare
    </Link>
  );
}

function CancelButton({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const cancel = useMutation(
    trpc.runs.cancel.mutationOptions({
      onSuccess: () =>
        queryClient.invalidateQueries({ queryKey: trpc.runs.inspect.queryKey({ runId: run.id }) }),
      onError: (error) => notify("The run could not be cancelled", describeError(error).message),
    }),
  );
  const asked = run.cancelRequested || cancel.isPending || cancel.isSuccess;
  const ask = () => cancel.mutate({ runIds: [run.id] });
  usePageActions(asked ? [] : [{ label: "Cancel run", run: ask }]);
  return (
    <Button className={CANCEL_WIDTH} disabled={asked} look="danger" onClick={ask}>
      {asked ? "Cancelling" : "Cancel run"}
    </Button>
  );
}

function RunAgain({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  const [editing, setEditing] = useState(false);
  const rerun = useMutation(
    trpc.runs.rerun.mutationOptions({
      onSuccess: ({ runId }) => {
        setEditing(false);
        router.push(`/runs/${runId}`);
      },
    }),
  );
  const busy = rerun.isPending;
  const runAgain = () =>
    rerun.mutate(
      { runId: run.id },
      { onError: (error) => notify("The run could not be started", describeError(error).message) },
    );
  usePageActions(
    busy
      ? []
      : [
          { label: "Run again", run: runAgain },
          { label: "Run again with another input", run: () => setEditing(true) },
        ],
  );
  return (
    <>
      <div className="flex">
        <Button className="rounded-r-none border-r-0" disabled={busy} onClick={runAgain}>
          {busy && !editing ? "Starting" : "Run again"}
        </Button>
        <Menu
          label="More ways to run again"
          trigger={<ChevronDownIcon />}
          triggerClass={buttonClass("plain", "rounded-l-none px-1.5")}
        >
          <MenuItem onClick={() => setEditing(true)}>With another input</MenuItem>
        </Menu>
      </div>
      {editing ? (
        <RerunDialog
          busy={busy}
          onClose={() => setEditing(false)}
          onStart={(input) => rerun.mutate({ runId: run.id, input })}
          problem={rerun.isError ? describeError(rerun.error).message : null}
          run={run}
        />
      ) : null}
    </>
  );
}

function RerunDialog({
  run,
  busy,
  problem,
  onStart,
  onClose,
}: {
  run: RunDetail;
  busy: boolean;
  problem: string | null;
  onStart: (input: string) => void;
  onClose: () => void;
}) {
  const whole = useWholeText(run.input, `/api/runs/${run.id}/text?field=input`);
  const [typed, setTyped] = useState<string | null>(null);
  const input = typed ?? (whole.cut ? "" : prettify(run.kind, whole.text));
  const latest = useRef(whole.load);
  useEffect(() => latest.current(), []);
  const [fault, setFault] = useState<string | null>(null);
  const isTool = run.kind === "tool";

  function submit(event: FormEvent) {
    event.preventDefault();
    const wrong = isTool ? faultOf(input) : null;
    setFault(wrong);
    if (!wrong) onStart(input);
  }

  return (
    <Dialog onOpenChange={(open) => !open && onClose()} open title={`Run ${run.targetName} again`} wide>
      <form className="flex min-h-0 flex-col gap-3" onSubmit={submit}>
        <label className="font-medium" htmlFor="rerun-input">
          {isTool ? "Input, a JSON object" : "Message"}
        </label>
        {whole.failed ? (
          <p className="text-failed">The input could not be read. Close this and try again.</p>
        ) : null}
        <textarea
          aria-describedby="rerun-problem"
          className="mono h-64 resize-y rounded-md border border-line-strong bg-canvas p-2.5"
          id="rerun-input"
          disabled={whole.cut}
          onChange={(event) => setTyped(event.target.value)}
          placeholder={whole.loading ? "Loading the input" : undefined}
          spellCheck={!isTool}
          value={input}
        />
        <p aria-live="polite" className="text-failed" id="rerun-problem">
          {fault ?? problem}
        </p>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
          <Button disabled={busy || whole.cut} look="primary" type="submit">
            {busy ? "Starting" : "Run"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function prettify(kind: RunDetail["kind"], text: string): string {
  if (kind === "agent") return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** What keeps a text from being a JSON object, in words; null when it is one. */
export function faultOf(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? null : "The input of a tool must be a JSON object.";
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : ""}`;
  }
}
