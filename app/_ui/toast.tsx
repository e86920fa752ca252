"use client";

import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";
import { Button, IconButton } from "@/app/_ui/button";
import { CloseIcon } from "@/app/_ui/icons";

/** What the reader can do about a message, such as undo. */
type NoticeAction = { label: string; run: () => void };
type Notice = {
  id: number;
  title: string;
  description: string | undefined;
  action: NoticeAction | undefined;
};
type Notify = (title: string, description?: string, action?: NoticeAction) => void;

const NotifyContext = createContext<Notify>(() => {});
const SHOWN_MS = 6_000;
/** A message with an action stays longer, so that it can be reached by keyboard. */
const ACTION_SHOWN_MS = 60_000;
const MAX_NOTICES = 3;

/** Short messages after an action, at the lower edge, announced politely to screen readers. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<Notice[]>([]);
  const last = useRef(0);
  const dismiss = useCallback(
    (id: number) => setNotices((before) => before.filter((each) => each.id !== id)),
    [],
  );
  const notify = useCallback<Notify>(
    (title, description, action) => {
      last.current += 1;
      const id = last.current;
      setNotices((before) => [...before.slice(1 - MAX_NOTICES), { id, title, description, action }]);
      setTimeout(() => dismiss(id), action === undefined ? SHOWN_MS : ACTION_SHOWN_MS);
    },
    [dismiss],
  );
  return (
    <NotifyContext value={notify}>
      {children}
      <div
        aria-live="polite"
        // Above the bar with Save, where a page has one.
        className="pointer-events-none fixed right-4 bottom-4 left-4 z-[60] mx-auto flex max-w-sm flex-col gap-2 sm:right-4 sm:left-auto sm:w-96 [body:has([data-save-bar])_&]:bottom-20"
        role="status"
      >
        {notices.map(({ id, title, description, action }) => (
          <div
            className="pointer-events-auto flex items-start gap-3 rounded-lg border border-line-strong bg-raised px-3 py-2.5 shadow-raised"
            key={id}
          >
            <div className="min-w-0 flex-1">
              <p className="font-medium">{title}</p>
              {description ? <p className="text-muted">{description}</p> : null}
            </div>
            {action ? (
              <Button
                onClick={() => {
                  dismiss(id);
                  action.run();
                }}
              >
                {action.label}
              </Button>
            ) : null}
            <IconButton label="Dismiss" onClick={() => dismiss(id)}>
              <CloseIcon />
            </IconButton>
          </div>
        ))}
      </div>
    </NotifyContext>
  );
}

export function useNotify(): Notify {
  return useContext(NotifyContext);
}
