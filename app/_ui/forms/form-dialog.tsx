"use client";

import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { Button } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";
import { Dialog, DialogActions } from "@/app/_ui/dialog";

/** What the dialog shows of its mutation. */
type Mutation = { isPending: boolean; error: unknown };

const problemOf = ({ error }: Mutation) => (error === null ? null : describeError(error).message);

/**
 * A dialog with a form. Only its buttons and Escape close it, so that a click beside it loses nothing. Nothing closes
 * it during the mutation, whose result may be shown only once.
 */
export function FormDialog({
  title,
  act,
  acting,
  mutation,
  problem = problemOf(mutation),
  dismiss = "Cancel",
  wide = false,
  loading = false,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  /** The submit button's label, and its label while the mutation runs. */
  act: string;
  acting: string;
  mutation: Mutation;
  /** What went wrong besides the errors at the fields; by default the mutation's error. */
  problem?: string | null;
  /** The label of the button that closes the dialog. */
  dismiss?: string;
  wide?: boolean;
  /** Whether what the form edits is still being read. */
  loading?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const busy = mutation.isPending;
  const form = useRef<HTMLFormElement>(null);
  const wasBusy = useRef(false);
  useEffect(() => {
    if (wasBusy.current && !busy) focusFirstFault(form.current);
    wasBusy.current = busy;
  }, [busy]);
  function submit(event: FormEvent) {
    event.preventDefault();
    onSubmit();
    // Errors that are known before the server is asked are rendered by then.
    requestAnimationFrame(() => focusFirstFault(form.current));
  }
  return (
    <Dialog onClose={() => !busy && onClose()} sticky title={title} wide={wide}>
      <form className="flex flex-col gap-4" noValidate onSubmit={submit} ref={form}>
        {children}
        <div className="sticky -bottom-4 -mx-4 -mb-4 flex flex-col gap-2 border-line border-t bg-raised px-4 py-3">
          <p className="text-failed [overflow-wrap:anywhere] empty:hidden" role="alert">
            {problem}
          </p>
          <DialogActions>
            <Button disabled={busy} onClick={onClose}>
              {dismiss}
            </Button>
            <Button disabled={busy || loading} look="primary" type="submit">
              {busy ? acting : act}
            </Button>
          </DialogActions>
        </div>
      </form>
    </Dialog>
  );
}

function focusFirstFault(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}

/** Confirms an action that destroys or cannot be undone. */
export function ConfirmDialog({
  title,
  act,
  acting,
  mutation,
  loading = false,
  dismiss = "Cancel",
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  act: string;
  acting: string;
  mutation: Mutation;
  /** Whether what must be known before confirming is still being read. */
  loading?: boolean;
  /** The label of the button that closes the dialog. */
  dismiss?: string;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog onClose={onClose} title={title}>
      <div className="flex flex-col gap-2 [overflow-wrap:anywhere]">{children}</div>
      <p className="text-failed [overflow-wrap:anywhere] empty:hidden" role="alert">
        {problemOf(mutation)}
      </p>
      <DialogActions>
        <Button onClick={onClose}>{dismiss}</Button>
        <Button disabled={mutation.isPending || loading} look="danger" onClick={onConfirm}>
          {mutation.isPending || loading ? acting : act}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
