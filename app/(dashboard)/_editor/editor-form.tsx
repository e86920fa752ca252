"use client";

import { type ReactNode, useEffect } from "react";
import { Button } from "@/app/_ui/button";
import { formatPlural } from "@/app/_ui/figures/format";
import { INPUT_CLASS } from "@/app/_ui/forms/form";
import { lazy } from "@/app/_ui/lazy";
import { DetailHead } from "@/app/_ui/page/page";
import { withdrawActions } from "@/app/_ui/toast";
import type { Fields } from "@/server/work/agent/field-changes";
import type { Editor } from "./use-editor";

const Conflict = lazy(() => import("./conflict"), "Conflict");

type EditorFormProps<Value> = {
  editor: Editor<Value>;
  problems: number;
  fieldsOf: (value: Value) => Fields;
  children: ReactNode;
};

/** The page of an editor: head, fields, and a bar with Save. Ctrl or Command with S saves. */
export function EditorForm<Value>({ editor, problems, fieldsOf, children }: EditorFormProps<Value>) {
  const { kind, opened, draft, newer, busy, submit, discard } = editor;
  useEffect(() => withdrawActions, []);
  useEffect(() => {
    const save = (event: KeyboardEvent) => {
      if (event.key !== "s" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      submit();
    };
    document.addEventListener("keydown", save);
    return () => document.removeEventListener("keydown", save);
  });
  const issue = editor.problems.rest ?? (problems > 0 ? formatPlural(problems, "problem") : null);
  const state = draft.restored
    ? "Draft from your last visit"
    : draft.changed
      ? "Unsaved changes"
      : "No changes";
  return (
    <form
      className="flex min-h-[calc(100dvh-3rem)] flex-col md:min-h-dvh"
      inert={draft.ended}
      noValidate
      // Enter in a field saves nothing.
      onSubmit={(event) => event.preventDefault()}
    >
      <DetailHead
        back={editor.back}
        className="border-line border-b"
        title={opened === null ? `New ${kind}` : `Edit ${kind}`}
      >
        {draft.opened === null ? null : <span className="text-muted">from v{draft.opened.version}</span>}
      </DetailHead>
      {newer === null ? null : (
        <Conflict
          draft={fieldsOf(draft.value)}
          kind={kind}
          newer={{ ...newer, fields: fieldsOf(editor.saved) }}
          onDiscard={discard}
          onKeep={editor.rebase}
        />
      )}
      {children}
      <div
        className="sticky bottom-0 z-10 flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-t bg-raised px-4 py-3 sm:px-6"
        data-save-bar
      >
        <p aria-live="polite" className="min-w-0 flex-1 text-muted">
          {issue ? <span className="text-failed">{issue}</span> : state}
        </p>
        {opened !== null && draft.changed ? (
          <input
            aria-label="Note"
            className={`${INPUT_CLASS} sm:max-w-72`}
            maxLength={500}
            onChange={(event) => editor.setNote(event.target.value)}
            placeholder="Note: what changed and why"
            value={editor.note}
          />
        ) : null}
        {draft.changed ? (
          <Button look="quiet" onClick={discard}>
            Discard
          </Button>
        ) : null}
        <Button disabled={busy} look="primary" onClick={() => submit()}>
          {busy ? "Saving" : opened === null ? `Create ${kind}` : "Save"}
        </Button>
      </div>
    </form>
  );
}

type EditorSectionProps = { title: string; hint?: string; children: ReactNode };

export function EditorSection({ title, hint, children }: EditorSectionProps) {
  return (
    <section aria-label={title} className="flex flex-col gap-3 border-line border-b px-4 py-5 sm:px-6">
      <div>
        <h2 className="font-semibold">{title}</h2>
        {hint ? <p className="text-muted">{hint}</p> : null}
      </div>
      {children}
    </section>
  );
}

export function TrySection<Value>({ editor, children }: { editor: Editor<Value>; children: ReactNode }) {
  return (
    <section aria-label="Try the draft" className="flex min-w-0 flex-col gap-4">
      <div>
        <h2 className="font-semibold">Try the draft</h2>
        <p className="text-muted">
          {editor.opened === null
            ? `The ${editor.kind} is created first, then it runs.`
            : "You don't have to save first."}{" "}
          A test run uses credits and makes real calls.
        </p>
      </div>
      {children}
    </section>
  );
}
