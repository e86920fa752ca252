"use client";

import { useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatCount, formatCredits, formatUsed, shortId } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { Moment } from "@/app/_ui/figures/time";
import { AgentIcon, CreditsIcon, ToolIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { CREDIT_ENTRY_KINDS, type CreditEntryKind } from "@/server/contract/enums";
import type { LedgerLine } from "@/server/credits/read-ledger";
import type { RunSummary } from "@/server/runs/read/list";
import { type LedgerQuestion, ledgerQuery, readLedgerAddress, writeLedgerAddress } from "./query";

const LABELS: Record<CreditEntryKind, string> = {
  grant: "Grant",
  charge: "Charge",
  refund: "Refund",
  adjustment: "Adjustment",
  hold: "Hold",
  release: "Release",
};

/** Every entry behind the balance: one line for each ended run, and on demand what was held meanwhile. */
export function Ledger() {
  const trpc = useTRPC();
  const question = readLedgerAddress(useSearchParams());
  const { query, pages, lines } = usePages(ledgerQuery(trpc, question));
  const runs = new Map(pages.flatMap((page) => page.runs).map((run) => [run.id, run]));
  const cached = new Map(pages.flatMap((page) => page.cached).map(({ runId, tokens }) => [runId, tokens]));
  const entries = lines.map((line) => ({
    line,
    run: line.runId ? runs.get(line.runId) : undefined,
    cached: (line.runId && cached.get(line.runId)) || 0,
  }));
  const kinds = CREDIT_ENTRY_KINDS.filter(
    (kind) => question.holds || kind === question.kind || (kind !== "hold" && kind !== "release"),
  );
  return (
    <section aria-label="Ledger">
      <PartHead title="Ledger">
        <ChoiceLinks
          label="Kind"
          options={[null, ...kinds].map((value) => ({
            value,
            label: value ? LABELS[value] : "All",
            href: writeLedgerAddress({ ...question, kind: value }),
          }))}
          value={question.kind}
        />
        <Switch checked={question.holds} onChange={showHolds}>
          Show holds and releases
        </Switch>
      </PartHead>
      <PagedList
        columns={question.holds ? WITH_BALANCE : COLUMNS}
        empty={<NoLines question={question} />}
        keyOf={keyOf}
        label="Ledger"
        list={{ query, lines: entries }}
        what="entries"
      />
    </section>
  );
}

/** Reads the address, because the page may not have rendered it yet. */
function showHolds(holds: boolean): void {
  const { kind } = readLedgerAddress(new URLSearchParams(location.search));
  const hidden = !holds && (kind === "hold" || kind === "release");
  window.history.replaceState(null, "", writeLedgerAddress({ holds, kind: hidden ? null : kind }));
}

type LedgerEntry = {
  line: LedgerLine;
  run: RunSummary | undefined;
  cached: number;
};
const keyOf = ({ line }: LedgerEntry) => String(line.sequence);

const WITH_BALANCE: LineColumn<LedgerEntry>[] = [
  { head: "Entry", area: "start", cell: (entry) => <Entry {...entry} /> },
  {
    head: "Run",
    width: "w-36",
    area: "lastStart",
    look: "line",
    cell: ({ run }) => (
      <span className="max-md:pl-6">{run ? <Status status={run.status} waiting={run.waiting} /> : null}</span>
    ),
  },
  {
    head: "Tokens",
    width: "w-44",
    area: "none",
    look: "figure",
    cell: (entry) => <Tokens {...entry} />,
  },
  {
    head: "Amount",
    width: "w-32",
    area: "end",
    look: "figure",
    cell: ({ line }) => <Amount of={line.amount} />,
  },
  {
    head: "Balance",
    title: "Credits that new runs could use after this entry",
    width: "w-32",
    area: "none",
    look: "figure",
    cell: ({ line }) => <span className="text-muted">{formatCredits(line.after)}</span>,
  },
  {
    head: "Time",
    width: "w-40",
    area: "last",
    look: "figure",
    cell: ({ line }) => <Moment at={line.createdAt} className="text-muted" />,
  },
];
/** Without holds, consecutive balances differ by more than the amount of the entry. */
const COLUMNS = WITH_BALANCE.filter(({ head }) => head !== "Balance");

export const LedgerSkeleton = () => <LineList columns={COLUMNS} keyOf={keyOf} label="Ledger" lines={null} />;

function Entry({ line, run }: LedgerEntry) {
  const Icon = run ? (run.kind === "agent" ? AgentIcon : ToolIcon) : CreditsIcon;
  const isCharge = line.kind === "charge";
  const actor = line.actor === "run" ? "" : `by ${line.actor}`;
  const details = [run ? run.inputPreview : line.note, actor].filter((text) => text !== "");
  return (
    <span className="flex min-w-0 items-center gap-2" title={`Entry ${line.sequence}: ${line.note}`}>
      <Icon className="shrink-0 text-faint" />
      {isCharge && run ? null : <span className="shrink-0 font-medium">{LABELS[line.kind]}</span>}
      {run ? (
        <Link
          className={`shrink-0 after:absolute after:inset-0 ${isCharge ? "font-medium" : ""}`}
          href={`/runs/${run.id}`}
        >
          {run.targetName}
        </Link>
      ) : line.runId ? (
        <span className="mono text-muted" title="The retention period of this run has ended">
          {shortId(line.runId)}
        </span>
      ) : null}
      <span className="truncate text-muted">{details.join(" · ")}</span>
    </span>
  );
}

function Tokens({ line, run, cached }: LedgerEntry) {
  if (line.kind !== "charge" || !run?.tokens) return null;
  return (
    <span className="text-muted">
      {cached > 0 ? (
        <span title="Input tokens that the provider read from its cache">
          {formatCount(cached)} cached of{" "}
        </span>
      ) : null}
      {formatCount(run.tokens)}
    </span>
  );
}

function Amount({ of }: { of: string }) {
  if (Number(of) <= 0) return formatUsed(of);
  return <span className="text-completed">+{formatCredits(of)}</span>;
}

function NoLines({ question: { kind } }: { question: LedgerQuestion }) {
  return kind ? (
    <Empty title={`No ${kind} in the ledger`} />
  ) : (
    <Empty title="No entries yet">
      <p>Each run that ends, each grant and each refund becomes an entry here.</p>
    </Empty>
  );
}

type SwitchProps = { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode };

function Switch({ checked, onChange, children }: SwitchProps) {
  return (
    <label className="inline-flex h-8 cursor-pointer items-center gap-2 text-muted hover:text-ink">
      <input
        aria-checked={checked}
        checked={checked}
        className="peer sr-only"
        onChange={({ target }) => onChange(target.checked)}
        role="switch"
        type="checkbox"
      />
      <span
        aria-hidden="true"
        className="flex h-4 w-7 items-center rounded-full bg-input-line p-0.5 transition-colors duration-100 peer-checked:bg-accent-fill peer-checked:*:translate-x-3 peer-focus-visible:outline-2 peer-focus-visible:outline-focus peer-focus-visible:outline-offset-1"
      >
        <span className="size-3 rounded-full bg-canvas transition-transform duration-100" />
      </span>
      {children}
    </label>
  );
}
