import type { ReactNode } from "react";
import { formatCredits, formatSpan } from "@/app/_ui/figures/format";
import { GaugeIcon } from "@/app/_ui/icons";

type FlowPartProps = { mark: ReactNode; title: ReactNode; end?: ReactNode; children?: ReactNode };

/**
 * A part of the flow of an agent or tool. `mark`: an icon or a step number. `end`: a fact at the end of the
 * heading.
 */
export function FlowPart({ mark, title, end, children }: FlowPartProps) {
  return (
    <li className="relative grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-3 not-last:pb-7 not-last:before:absolute not-last:before:top-8.5 not-last:before:bottom-1.5 not-last:before:left-3.5 not-last:before:border-line-strong not-last:before:border-l">
      <span className="grid size-7 place-items-center rounded-md bg-surface text-muted shadow-[inset_0_0_0_1px_var(--color-line-strong)]">
        {mark}
      </span>
      <div className="flex min-w-0 flex-col gap-2">
        <div className="flex min-h-7 flex-wrap items-center gap-x-3">
          <h2 className="font-semibold [overflow-wrap:anywhere]">{title}</h2>
          {end ? <span className="ml-auto text-muted text-xs">{end}</span> : null}
        </div>
        {children}
      </div>
    </li>
  );
}

type Facts = readonly [label: string, value: string][];

export function FactList({ facts }: { facts: Facts }) {
  if (facts.length === 0) return null;
  return (
    <dl className="flex flex-wrap gap-x-10 gap-y-2">
      {facts.map(([label, value]) => (
        <div className="min-w-0" key={label}>
          <dt className="text-muted text-xs">{label}</dt>
          <dd className="whitespace-pre-wrap [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type LimitsPartProps = {
  of: { maxCredits: string | null; deadlineSeconds: number };
  more?: Facts;
};

export function LimitsPart({ of, more = [] }: LimitsPartProps) {
  const facts: Facts = [
    ...more,
    ["Credits per run", of.maxCredits ? formatCredits(of.maxCredits) : "No cap"],
    ["Deadline", formatSpan(of.deadlineSeconds * 1_000)],
  ];
  return (
    <FlowPart mark={<GaugeIcon />} title="Within these limits">
      <FactList facts={facts} />
    </FlowPart>
  );
}
