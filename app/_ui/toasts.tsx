"use client";

import { Toast } from "@base-ui/react/toast";
import { useEffect } from "react";
import { buttonClass } from "@/app/_ui/button";
import { CloseIcon } from "@/app/_ui/icons";
import { showNoticesWith } from "@/app/_ui/toast";

const SHOWN_MS = 6_000;
/** Longer, so that the action can be reached by keyboard. */
const ACTION_SHOWN_MS = 60_000;

/** Messages need no answer. */
const NO_DIALOG = { role: "group", "aria-modal": undefined };

/** The messages at the lower edge. F6 moves the focus to them. */
export function Toasts() {
  return (
    <Toast.Provider limit={3} timeout={SHOWN_MS}>
      <Toast.Viewport
        // Above the bar with Save, where a page has one.
        className="pointer-events-none fixed right-4 bottom-4 left-4 z-[60] mx-auto flex max-w-sm flex-col-reverse gap-2 outline-none sm:right-4 sm:left-auto sm:w-96 [body:has([data-save-bar])_&]:bottom-32 sm:[body:has([data-save-bar])_&]:bottom-20"
      >
        <List />
      </Toast.Viewport>
    </Toast.Provider>
  );
}

function List() {
  const { toasts, add, close } = Toast.useToastManager();
  useEffect(() => {
    const withAction = new Set<string>();
    return showNoticesWith(
      ({ title, description, action }) => {
        const id = add({
          title,
          description,
          timeout: action === undefined ? SHOWN_MS : ACTION_SHOWN_MS,
          ...(action && {
            actionProps: {
              children: action.label,
              onClick: () => {
                close(id);
                action.run();
              },
            },
          }),
        });
        if (action !== undefined) withAction.add(id);
      },
      () => {
        for (const id of withAction) close(id);
        withAction.clear();
      },
    );
  }, [add, close]);
  return toasts.map((toast) => (
    <Toast.Root
      className="pointer-events-auto flex items-start gap-3 rounded-lg border border-line-strong bg-raised px-3 py-2.5 shadow-raised data-[limited]:hidden"
      key={toast.id}
      {...NO_DIALOG}
      swipeDirection={["down", "right"]}
      toast={toast}
    >
      <div className="min-w-0 flex-1">
        <Toast.Title className="font-medium" render={<p />} />
        <Toast.Description className="text-muted" />
      </div>
      <Toast.Action className={buttonClass()} />
      <Toast.Close
        aria-hidden={false}
        aria-label="Dismiss"
        className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
      >
        <CloseIcon />
      </Toast.Close>
    </Toast.Root>
  ));
}
