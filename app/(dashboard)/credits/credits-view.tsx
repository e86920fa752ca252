"use client";

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSearchParams } from "next/navigation";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { Fact, Facts, PartHead } from "@/app/_ui/facts";
import { formatCredits, formatPlural, shortId } from "@/app/_ui/format";
import { Link } from "@/app/_ui/link";
import { OlderButton } from "@/app/_ui/older-button";
import { Empty, PageHead, SkeletonLine } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { Moment } from "@/app/_ui/time";
import { CREDIT_ENTRY_KINDS, type CreditEntryKind } from "@/server/contract/enums";
import type { LedgerLine } from "@/server/credits/read-ledger";
import { Unreadable } from "../../_ui/text/unreadable";
import { OperatorCommand } from "../operator-command";
import { ledgerQuery, readKind } from "./query";

/** The balance, and every ledger entry behind it. */
export function CreditsView() {
  return (
    <>
      <PageHead title="Credits" />
      <BalanceFacts />
      <Ledger />
    </>
  );
}

function BalanceFacts() {
  const trpc = useTRPC();
  const query = useQuery(trpc.credits.balance.queryOptions());
  if (query.isError) {
    return (
      <Unreadable
        error={query.error}
        onRetry={() => void query.refetch()}
        what="The balance could not be read"
      />
    );
  }
  const balance = query.data;
  return (
    <Facts label="Balance">
      <Fact name="Balance">
        {balance ? (
          <span className="font-semibold text-base">{formatCredits(balance.available)} credits</span>
        ) : (
          <SkeletonLine className="w-40" />
        )}
      </Fact>
      <Fact name="Held">
        {balance ? (
          balance.openRuns === 0 ? (
            <span className="text-muted">No credits are held.</span>
          ) : (
            <>
              {formatCredits(balance.held)}{" "}
              <span className="text-muted">
                by{" "}
                <Link className="text-accent underline" href="/runs?status=Pending,Running">
                  {formatPlural(balance.openRuns, "open run")}
                </Link>
                ; the unused part is released when they end
              </span>
            </>
          )
        ) : (
          <SkeletonLine className="w-56" />
        )}
      </Fact>
      <Fact name="Monthly grant">
        {balance ? (
          Number(balance.monthly) > 0 ? (
            `${formatCredits(balance.monthly)} from the plan`
          ) : (
            <span className="text-muted">none</span>
          )
        ) : (
          <SkeletonLine className="w-40" />
        )}
      </Fact>
    </Facts>
  );
}

function Ledger() {
  const trpc = useTRPC();
  const kind = readKind(useSearchParams().get("kind"));
  const query = useInfiniteQuery(ledgerQuery(trpc, kind));
  const lines = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section aria-label="Ledger">
      <PartHead title="Ledger">
        <ChoiceLinks
          label="Kind"
          options={[null, ...CREDIT_ENTRY_KINDS].map((value) => ({
            value,
            label: value ?? "all",
            href: value ? `/credits?kind=${value}` : "/credits",
          }))}
          value={kind}
        />
      </PartHead>
      {query.isError && lines.length === 0 ? (
        <Unreadable
          error={query.error}
          onRetry={() => void query.refetch()}
          what="The ledger could not be read"
        />
      ) : query.isSuccess && lines.length === 0 ? (
        <NoLines kind={kind} />
      ) : (
        <Table className="max-md:block" label="Ledger">
          <thead className="max-md:hidden">
            <tr>
              <HeadCell className="text-right">No.</HeadCell>
              <HeadCell>Kind</HeadCell>
              <HeadCell className="text-right">Amount</HeadCell>
              <HeadCell className="text-right">Before</HeadCell>
              <HeadCell className="text-right">After</HeadCell>
              <HeadCell className="w-full">Note</HeadCell>
              <HeadCell>Run</HeadCell>
              <HeadCell>By</HeadCell>
              <HeadCell>Time</HeadCell>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {query.isPending ? (
              <RowSkeletons />
            ) : (
              lines.map((line) => <Row key={line.sequence} line={line} />)
            )}
          </tbody>
        </Table>
      )}
      <OlderButton query={query} what="lines" />
    </section>
  );
}

function Row({ line }: { line: LedgerLine }) {
  const amount = (
    <span className={line.amount.startsWith("-") ? undefined : "text-completed"}>{signed(line.amount)}</span>
  );
  const run = line.runId ? (
    line.runExists ? (
      <Link className="mono text-accent hover:underline" href={`/runs/${line.runId}`}>
        {shortId(line.runId)}
      </Link>
    ) : (
      <span className="mono text-muted" title="The retention period of this run has ended">
        {shortId(line.runId)}
      </span>
    )
  ) : null;
  return (
    <tr className="hover:bg-hover max-md:grid max-md:grid-cols-[minmax(0,1fr)_auto] max-md:gap-x-3 max-md:border-line max-md:border-b max-md:px-4 max-md:py-2">
      <Cell className="text-right text-muted max-md:hidden">{line.sequence}</Cell>
      <Cell className={STACKED}>
        {line.kind} <span className="text-muted md:hidden">{line.note}</span>
      </Cell>
      <Cell className={`whitespace-nowrap text-right ${STACKED}`}>{amount}</Cell>
      <Cell className="whitespace-nowrap text-right text-muted max-md:hidden">{signed(line.before, "")}</Cell>
      <Cell className="whitespace-nowrap text-right max-md:hidden">{signed(line.after, "")}</Cell>
      <Cell className="text-muted [overflow-wrap:anywhere] max-md:hidden">{line.note}</Cell>
      <Cell className="whitespace-nowrap max-md:hidden">{run}</Cell>
      <Cell className="whitespace-nowrap text-muted max-md:hidden">{line.actor}</Cell>
      <Cell className={`whitespace-nowrap text-muted md:!pr-6 ${STACKED}`}>
        <Moment at={line.createdAt} /> <span className="md:hidden">{run}</span>
      </Cell>
      <Cell className="!p-0 max-md:h-auto max-md:border-0 text-right text-muted md:hidden">
        {signed(line.after, "")}
      </Cell>
    </tr>
  );
}

const STACKED = "max-md:h-auto max-md:border-0 max-md:p-0!";

/** An amount with its sign: `+5.0000`, `−0.0312`. `plus` precedes amounts from 0. */
function signed(amount: string, plus = "+"): string {
  return amount.startsWith("-") ? `−${formatCredits(amount.slice(1))}` : `${plus}${formatCredits(amount)}`;
}

function NoLines({ kind }: { kind: CreditEntryKind | null }) {
  return kind ? (
    <Empty title={`No ${kind} in the ledger`} />
  ) : (
    <Empty title="No credits yet">
      <p>Runs need credits. The operator of this installation grants them:</p>
      <OperatorCommand>{'credits grant ORG 100 --note "First grant"'}</OperatorCommand>
    </Empty>
  );
}

function RowSkeletons() {
  return ["w-40", "w-56", "w-48", "w-64"].map((width) => (
    <tr key={width}>
      <Cell colSpan={9}>
        <SkeletonLine className={width} />
      </Cell>
    </tr>
  ));
}
