"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { formatBytes } from "@/app/_ui/format";
import { JsonView } from "@/app/_ui/json-view";
import { useWholeText } from "@/app/_ui/whole-text";
import type { LongText, RunDetail } from "@/server/runs/inspect";
import { isTerminal } from "@/server/runs/words";

const Markdown = dynamic(() => import("@/app/_ui/markdown").then((module) => module.Markdown));

/**
 * What the run was asked and what it answered, short until opened. `reserve` keeps the place of an answer that came
 * while somebody watched, so that nothing below moves when it does; a failure then stands in it instead.
 */
export function RunTexts({
  run,
  reserve,
  failure,
}: {
  run: RunDetail;
  reserve: boolean;
  failure: ReactNode;
}) {
  const label = run.kind === "agent" ? "Answer" : "Output";
  return (
    <div className="border-line border-t">
      <TextRow label="Input" run={run} side="input" text={run.input} />
      <div className={reserve ? "min-h-[9.75rem]" : undefined}>
        {run.output ? <TextRow label={label} run={run} side="output" text={run.output} /> : failure}
        {!run.output && !isTerminal(run.status) ? (
          <Row label={label}>
            <span className="text-faint">not there yet</span>
          </Row>
        ) : null}
      </div>
    </div>
  );
}

function Row({ label, actions, children }: { label: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section
      aria-label={label}
      className="grid grid-cols-[1fr_auto] gap-x-3 px-4 py-2 sm:grid-cols-[5rem_minmax(0,1fr)_auto] sm:px-6"
    >
      <h2 className="pt-1 text-muted">{label}</h2>
      <div className="min-w-0 pt-1 max-sm:order-last max-sm:col-span-2">{children}</div>
      <div className="flex items-start">{actions}</div>
    </section>
  );
}

const LONG = 600;

function TextRow({
  label,
  text,
  run,
  side,
}: {
  label: string;
  text: LongText;
  run: RunDetail;
  side: "input" | "output";
}) {
  const whole = useWholeText(text, `/api/runs/${run.id}/text?field=${side}`);
  const long = text.text.length > LONG || text.text.split("\n", 9).length > 8;
  const [open, setOpen] = useState(false);
  return (
    <Row actions={<CopyButton label={`Copy the ${label.toLowerCase()}`} text={whole.read} />} label={label}>
      <div
        className={
          long && !open
            ? "relative max-h-28 overflow-hidden [mask-image:linear-gradient(#000_65%,transparent)]"
            : undefined
        }
      >
        {run.kind === "agent" && side === "output" ? (
          <Markdown text={whole.text} />
        ) : run.kind === "agent" ? (
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{whole.text}</p>
        ) : (
          <JsonView text={whole.text} cut={whole.cut} />
        )}
      </div>
      {long ? (
        <button
          aria-expanded={open}
          className="mt-1 text-accent hover:underline"
          onClick={() => {
            setOpen(!open);
            if (!open) whole.load();
          }}
          type="button"
        >
          {open ? "Show less" : `Show all ${formatBytes(text.bytes)}`}
        </button>
      ) : null}
    </Row>
  );
}
