"use client";

import { Toast } from "@base-ui/react/toast";
import type { ReactNode } from "react";
import { CloseIcon } from "@/app/_ui/icons";

/** Short messages after an action, at the lower edge, read out politely. */
export function ToastProvider({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider limit={3} timeout={6_000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 left-4 z-50 mx-auto flex max-w-sm flex-col gap-2 sm:left-auto">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      className="flex items-start gap-3 rounded-lg border border-line-strong bg-raised px-3 py-2.5 shadow-raised"
      key={toast.id}
      toast={toast}
    >
      <div className="min-w-0 flex-1">
        <Toast.Title className="font-medium" />
        <Toast.Description className="text-muted" />
      </div>
      <Toast.Close aria-label="Dismiss" className="text-muted hover:text-ink">
        <CloseIcon />
      </Toast.Close>
    </Toast.Root>
  ));
}

/** Says something after an action. */
export function useNotify(): (title: string, description?: string) => void {
  const { add } = Toast.useToastManager();
  return (title, description) => {
    add({ title, ...(description ? { description } : {}) });
  };
}
