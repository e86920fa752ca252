"use client";

import { Dialog as Base } from "@base-ui/react/dialog";
import clsx from "clsx";
import { type ReactNode, useState } from "react";
import { Button } from "@/app/_ui/button";
import { CloseIcon } from "@/app/_ui/icons";
import { useClose } from "@/app/_ui/use-dialog";

type DialogProps = {
  onClose: () => void;
  title: string;
  wide?: boolean;
  sticky?: boolean;
  finalFocus?: true | (() => boolean);
  children: ReactNode;
};

/** A modal dialog. On a phone it fills the lower edge of the screen. */
export function Dialog({
  onClose,
  title,
  wide = false,
  sticky = false,
  finalFocus = true,
  children,
}: DialogProps) {
  // Read before a field with `autoFocus` takes the focus. Base UI reads it later, and would return it to that field.
  const [opener] = useState(() => (typeof document === "object" ? document.activeElement : null));
  function focusAfter() {
    if (finalFocus !== true && !finalFocus()) return false;
    const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
    return isThere ? opener : true;
  }
  return (
    <Base.Root disablePointerDismissal={sticky} onOpenChange={(open) => !open && onClose()} open>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-backdrop" />
        <Base.Popup
          finalFocus={focusAfter}
          className={clsx(
            "fixed inset-x-0 bottom-0 z-50 flex max-h-[90dvh] flex-col overflow-hidden rounded-t-lg border border-line-strong bg-raised shadow-raised outline-none",
            "sm:inset-x-auto sm:top-[12vh] sm:bottom-auto sm:left-1/2 sm:max-h-[76vh] sm:w-full sm:-translate-x-1/2 sm:rounded-lg",
            wide ? "sm:max-w-3xl" : "sm:max-w-md",
          )}
        >
          <div className="flex h-12 shrink-0 items-center justify-between border-line border-b pr-2 pl-4">
            <Base.Title className="font-semibold text-base">{title}</Base.Title>
            <Base.Close
              aria-label="Close"
              className="flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
            >
              <CloseIcon />
            </Base.Close>
          </div>
          <div className="flex min-h-0 scroll-pb-16 flex-col gap-4 overflow-y-auto p-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

type DoneDialogProps = Omit<DialogProps, "onClose"> & { actions?: ReactNode; onClose?: () => void };

/** A dialog that shows a result. `actions` are beside its button Done. */
export function DoneDialog({ actions, children, ...props }: DoneDialogProps) {
  const close = useClose();
  const { onClose = close } = props;
  return (
    <Dialog {...props} onClose={onClose}>
      {children}
      <DialogActions>
        {actions}
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}

export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="flex justify-end gap-2">{children}</div>;
}
