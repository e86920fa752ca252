"use client";

import { useState } from "react";
import { INPUT_CLASS } from "@/app/_ui/forms/field";
import { Choice } from "@/app/_ui/forms/form";
import type { DirectoryEntry } from "@/server/catalog/overview";

/** A searchable list of agents and tools; several can be chosen. */
export function TargetPicker({
  targets,
  chosen,
  onChange,
}: {
  targets: readonly DirectoryEntry[];
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const shown = targets.filter(({ name, slug }) => `${name} ${slug}`.toLowerCase().includes(wanted));
  return (
    <div className="flex flex-col overflow-hidden rounded-md border border-line-strong">
      <input
        aria-label="Search agents and tools"
        className={`${INPUT_CLASS} rounded-b-none border-0 border-line border-b`}
        onChange={(event) => setText(event.target.value)}
        placeholder="Search agents and tools"
        type="search"
        value={text}
      />
      <div className="max-h-44 overflow-y-auto px-2.5 py-1">
        {shown.map(({ id, kind, name }) => (
          <Choice
            checked={chosen.includes(id)}
            key={id}
            onChange={(on) => onChange(on ? [...chosen, id] : chosen.filter((each) => each !== id))}
          >
            {name} <span className="text-muted">{kind}</span>
          </Choice>
        ))}
        {shown.length === 0 ? <p className="py-1 text-muted">No agent or tool matches.</p> : null}
      </div>
      <p aria-live="polite" className="border-line border-t bg-surface px-2.5 py-1 text-muted text-xs">
        {chosen.length} selected
      </p>
    </div>
  );
}
