"use client";

import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { Button } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";
import { Dialog, DialogActions } from "@/app/_ui/dialog";

type FormDialogProps = {
  title: string;
  act: string;
  acting: string;
  mutation: { isPending: boolean; error: unknown };
  problem?: string | null;
  dismiss?: string;
  wide?: boolean;
  danger?: boolean;
  loading?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
};

/**
 * A dialog with a form. A click beside it does not close it, so that nothing is lost. Nothing closes it during the
 * mutation, whose result may be shown only once.
 */
export function FormDialog({
  title,
  act,
  acting,
  mutation,
  wide = false,
  danger = false,
  ...props
}: FormDialogProps) {
  const { loading = false, dismiss = "Cancel", onSubmit, onClose, children } = props;
  const { problem = mutation.error === null ? null : describeError(mutation.error).message } = props;
  const busy = mutation.isPending;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (mutation.error !== null) focusFirstIssue(form.current);
  }, [mutation.error]);
  function submit(event: FormEvent) {
    event.preventDefault();
    onSubmit();
    // Errors that are known before the server is asked are rendered by then.
    requestAnimationFrame(() => focusFirstIssue(form.current));
  }
  return (
    <Dialog onClose={() => !busy && onClose()} sticky={!danger} title={title} wide={wide}>
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
            <Button disabled={busy || loading} look={danger ? "danger" : "primary"} type="submit">
              {busy ? acting : act}
            </Button>
          </DialogActions>
        </div>
      </form>
    </Dialog>
  );
}

function focusFirstIssue(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}

type ConfirmProps = Omit<FormDialogProps, "danger" | "onSubmit"> & { onConfirm: () => void };

/** Confirms an action that destroys or cannot be undone. */
export function ConfirmDialog({ onConfirm, children, ...props }: ConfirmProps) {
  return (
    <FormDialog {...props} danger onSubmit={onConfirm}>
      <div className="flex flex-col gap-2 [overflow-wrap:anywhere]">{children}</div>
    </FormDialog>
  );
}
