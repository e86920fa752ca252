"use client";

import { useEffect, useRef } from "react";
import { Button } from "@/app/_ui/button";
import { FieldDiff } from "@/app/_ui/text/field-diff";
import type { RunKind } from "@/server/contract/enums";
import { compareFields, type Fields } from "@/server/work/agent/field-changes";

type ConflictProps = {
  kind: RunKind;
  draft: Fields;
  /** `version`: null if the newer change made none. */
  newer: { version: number | null; fields: Fields };
  onKeep: () => void;
  onDiscard: () => void;
};

/** Shows how a draft differs from what was saved meanwhile, and asks which to keep. */
export function Conflict({ kind, draft, newer, onKeep, onDiscard }: ConflictProps) {
  const section = useRef<HTMLElement>(null);
  // It appears at the top of the page, which may be scrolled far down.
  useEffect(() => {
    section.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const changes = compareFields(newer.fields, draft);
  const what = newer.version === null ? `the saved ${kind}` : `version ${newer.version}`;
  return (
    <section
      ref={section}
      aria-label={`Differences from ${what}`}
      className="flex flex-col gap-3 border-line border-b bg-surface px-4 py-4 sm:px-6"
    >
      <div>
        <h2 className="font-semibold">
          {newer.version === null
            ? `Somebody changed this ${kind} while you were editing`
            : `Version ${newer.version} was saved while you were editing`}
        </h2>
        <p className="text-muted">
          {changes.length === 0
            ? "Your draft equals it."
            : `Your draft is kept. These are its differences from ${what}; saving the draft applies all of them.`}
        </p>
      </div>
      {changes.map((change) => (
        <FieldDiff change={change} key={change.field} />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onKeep}>Keep my draft</Button>
        <Button onClick={onDiscard}>Discard it and edit {what}</Button>
      </div>
    </section>
  );
}
