"use client";

import { useEffect } from "react";
import { Button } from "@/app/_ui/button";
import type { ShownError } from "@/app/_ui/query-client";

/** The bar below an editor: what is unsaved, what is wrong, discard and save. Ctrl or Command with S saves. */
export function EditorBar({
  changed,
  restored,
  busy,
  problems,
  error,
  saveLabel,
  onSave,
  onDiscard,
}: {
  changed: boolean;
  restored: boolean;
  busy: boolean;
  /** How many problems are known. */
  problems: number;
  error: ShownError | null;
  saveLabel: string;
  onSave: () => void;
  onDiscard: () => void;
}) {
  useEffect(() => {
    const save = (event: KeyboardEvent) => {
      if (event.key !== "s" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      if (!busy) onSave();
    };
    document.addEventListener("keydown", save);
    return () => document.removeEventListener("keydown", save);
  });
  useEffect(() => {
    if (!changed || busy) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [changed, busy]);
  const general = error && messageOfWhole(error);
  return (
    <div className="sticky bottom-0 z-10 flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-t bg-raised px-4 py-3 sm:px-6">
      <p aria-live="polite" className="min-w-0 flex-1 text-muted">
        {general ? (
          <span className="text-failed">{general}</span>
        ) : problems > 0 ? (
          <span className="text-failed">{problems === 1 ? "1 problem" : `${problems} problems`}</span>
        ) : restored ? (
          "Draft from your last visit"
        ) : changed ? (
          "Unsaved changes"
        ) : (
          "No changes"
        )}
      </p>
      {changed ? (
        <Button look="quiet" onClick={onDiscard}>
          Discard
        </Button>
      ) : null}
      <Button disabled={busy} look="primary" onClick={onSave}>
        {busy ? "Saving" : saveLabel}
      </Button>
    </div>
  );
}

/** The message about the whole definition, such as a newer version; null if all problems have a place. */
function messageOfWhole({ message, issues }: ShownError): string | null {
  if (issues.length === 0) return message;
  return issues.find(({ path }) => path === "")?.message ?? null;
}
