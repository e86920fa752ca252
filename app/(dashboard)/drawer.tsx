"use client";

import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { CloseIcon } from "@/app/_ui/icons";

export function Drawer({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Dialog.Root onOpenChange={(open) => !open && onClose()} open>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-backdrop" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-50 flex w-64 flex-col border-line border-r bg-sidebar outline-none">
          <Dialog.Title className="sr-only">Menu</Dialog.Title>
          <Dialog.Close
            aria-label="Close the menu"
            className="absolute top-2 right-2 z-10 flex size-9 items-center justify-center rounded-md hover:bg-hover"
          >
            <CloseIcon />
          </Dialog.Close>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
