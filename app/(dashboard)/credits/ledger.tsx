"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatCredits, formatUsed, shortId } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { Moment } from "@/app/_ui/figures/time";
import { AgentIcon, CreditsIcon, ToolIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { OlderButton } from "@/app/_ui/older-button";
import { Empty } from "@/app/_ui/page/page";
import { RowSkeletons } from "@/app/_ui/page/skeletons";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";
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
  const query = useInfiniteQuery(ledgerQuery(trpc, question));
  const lines = query.data?.pages.flatMap((page) => page.items) ?? [];
  const runs = new Map(query.data?.pages.flatMap((page) => page.runs).map((run) => [run.id, run]));
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
      {query.isError && lines.length === 0 ? (
        <Unreadable query={query} what="The ledger could not be read" />
      ) : query.isSuccess && lines.length === 0 ? (
        <NoLines question={question} />
      ) : (
        <Table className="max-md:block" label="Ledger">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell className="w-full">Entry</HeadCell>
              <HeadCell>Run</HeadCell>
              <HeadCell className="text-right">Amount</HeadCell>
              {question.holds ? (
                <HeadCell
                  className="text-right"
                  title="What could be spent afterwards, without what was held for open runs"
                >
                  Balance
                </HeadCell>
              ) : null}
              <HeadCell className="text-right">Time</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {query.isPending ? (
              <RowSkeletons columns={question.holds ? 5 : 4} />
            ) : (
              lines.map((line) => (
                <Row
                  holds={question.holds}
                  key={line.sequence}
                  line={line}
                  run={line.runId ? runs.get(line.runId) : undefined}
                />
              ))
            )}
          </tbody>
        </Table>
      )}
      <OlderButton query={query} what="entries" />
    </section>
  );
}

/** Changes the address, which the page may not have rendered yet. */
function showHolds(holds: boolean): void {
  const { kind } = readLedgerAddress(new URLSearchParams(location.search));
  const hidden = !holds && (kind === "hold" || kind === "release");
  window.history.replaceState(null, "", writeLedgerAddress({ holds, kind: hidden ? null : kind }));
}

const STACKED = "max-md:h-auto max-md:border-0 max-md:p-0!";

/**
 * Balances are shown only if holds are: without them, consecutive balances differ by more than the amount of the entry.
 */
function Row({ line, run, holds }: { line: LedgerLine; run: RunSummary | undefined; holds: boolean }) {
  return (
    <tr
      className="relative hover:bg-hover max-md:grid max-md:grid-cols-[minmax(0,1fr)_auto] max-md:gap-x-3 max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
      title={`Entry ${line.sequence}: ${line.note}`}
    >
      <Cell className={`md:max-w-0 ${STACKED}`}>
        <Entry line={line} run={run} />
      </Cell>
      <Cell className={`whitespace-nowrap max-md:order-3 max-md:pl-6! ${STACKED}`}>
        {run ? <Status status={run.status} waiting={run.waiting} /> : null}
      </Cell>
      <Cell className={`whitespace-nowrap text-right ${STACKED}`}>
        <Amount of={line.amount} />
      </Cell>
      {holds ? (
        <Cell className="whitespace-nowrap text-right text-muted max-md:hidden">
          {formatCredits(line.after)}
        </Cell>
      ) : null}
      <Cell className={`whitespace-nowrap text-right text-muted max-md:order-4 md:pr-6! ${STACKED}`}>
        <Moment at={line.createdAt} />
      </Cell>
    </tr>
  );
}

/** What the entry is for: the run with its input, or the kind with its note. */
function Entry({ line, run }: { line: LedgerLine; run: RunSummary | undefined }) {
  const Icon = run ? (run.kind === "agent" ? AgentIcon : ToolIcon) : CreditsIcon;
  const isCharge = line.kind === "charge";
  const actor = line.actor === "run" ? "" : `by ${line.actor}`;
  const details = [run ? run.inputPreview : line.note, actor].filter((text) => text !== "");
  return (
    <span className="flex min-w-0 items-center gap-2">
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

/** An amount with its sign: `+5.0000`, `−0.0312`; a dash for none. */
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

/** A setting that is on or off and takes effect immediately. */
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
