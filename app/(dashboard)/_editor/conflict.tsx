"use client";

import { useEffect, useRef } from "react";
import { Button } from "@/app/_ui/button";
import { FieldDiff } from "@/app/_ui/text/field-diff";
import { compareFields, type Fields } from "@/server/work/agent/field-changes";

type ConflictProps = {
  draft: Fields;
  newer: { version: number; fields: Fields };
  onKeep: () => void;
  onDiscard: () => void;
};

/** Shows how a draft differs from a version that was saved meanwhile, and asks which to keep. */
export function Conflict({ draft, newer, onKeep, onDiscard }: ConflictProps) {
  const section = useRef<HTMLElement>(null);
  // It appears at the top of the page, which may be scrolled far down.
  useEffect(() => {
    section.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const changes = compareFields(newer.fields, draft);
  return (
    <section
      ref={section}
      aria-label={`Differences from version ${newer.version}`}
      className="flex flex-col gap-3 border-line border-b bg-surface px-4 py-4 sm:px-6"
    >
      <div>
        <h2 className="font-semibold">Version {newer.version} was saved while you were editing</h2>
        <p className="text-muted">
          {changes.length === 0
            ? "Your draft equals it."
            : `Your draft is kept. These are its differences from version ${newer.version}; saving the draft applies all of them.`}
        </p>
      </div>
      {changes.map((change) => (
        <FieldDiff change={change} key={change.field} />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onKeep}>Keep my draft</Button>
        <Button onClick={onDiscard}>Discard it and edit version {newer.version}</Button>
      </div>
    </section>
  );
}
