"use client";

import { useQuery } from "@tanstack/react-query";
import { useContext } from "react";
import { useNow, useTimeZone } from "@/app/_ui/data/clock";
import { OrganizationContext } from "@/app/_ui/data/page-organization";
import { useTRPC } from "@/app/_ui/data/providers";
import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { formatCredits, formatPlural, NONE } from "@/app/_ui/figures/format";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { FiguresSkeleton } from "@/app/_ui/page/skeletons";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { daysLeft } from "./days-left";
import { type UsedCredits, usedCredits } from "./used-credits";

/** Small amounts have four places, so that use is never shown as 0.00. */
const formatPerDay = (credits: number) => formatCredits(credits.toFixed(4), credits < 0.01 ? 4 : 2);

export function BalanceFigures() {
  const trpc = useTRPC();
  const timeZone = useTimeZone();
  const now = useNow();
  const balance = useQuery(trpc.credits.balance.queryOptions());
  const use = useQuery(trpc.runs.metrics.queryOptions({ period: "7d" }));
  const failed = [balance, use].find(({ isError }) => isError);
  if (failed) return <Unreadable query={failed} what="Could not load the balance" />;
  if (!balance.data || !use.data) return <BalanceSkeleton />;
  const { available, held, openRuns, monthly } = balance.data;
  const { total, buckets } = use.data;
  const usedPerDay = usedCredits(total) / 7;
  return (
    <Figures label="Balance">
      <Figure
        name="Balance"
        note={<Held held={held} openRuns={openRuns} />}
        value={formatCredits(available, 2)}
      />
      <Figure
        chart={<Sparkline values={daysOf(buckets)} />}
        name="Used per day, last 7 days"
        note={describeRuns(total)}
        value={usedPerDay === 0 ? NONE : formatPerDay(usedPerDay)}
      />
      <Figure name="Days left" {...daysLeft(Number(available), usedPerDay, { now, timeZone })} />
      <Figure
        name="Monthly grant"
        note={Number(monthly) > 0 ? "From the plan" : "The plan has none"}
        value={Number(monthly) > 0 ? formatCredits(monthly, 2) : NONE}
      />
    </Figures>
  );
}

function Held({ held, openRuns }: { held: string; openRuns: number }) {
  if (openRuns === 0) return "Nothing is held for open runs";
  return (
    <>
      {formatCredits(held)} more are held for{" "}
      <Link className="text-accent underline" href="/runs?status=Pending,Running,Waiting">
        {formatPlural(openRuns, "open run")}
      </Link>
    </>
  );
}

function describeRuns({ runs, drafts }: Pick<RunFigures, "runs" | "drafts">): string {
  if (drafts === 0) return runs === 0 ? "No runs" : `by ${formatPlural(runs, "run")}`;
  return `by ${formatPlural(runs, "run")} and ${formatPlural(drafts, "run")} of drafts`;
}

function daysOf(buckets: readonly (UsedCredits & { from: string })[]): number[] {
  const days = new Map<string, number>();
  for (const bucket of buckets) {
    const day = bucket.from.slice(0, 10);
    days.set(day, (days.get(day) ?? 0) + usedCredits(bucket));
  }
  return [...days.values()];
}

export function BalanceSkeleton() {
  return (
    <FiguresSkeleton
      label="Balance"
      names={["Balance", "Used per day, last 7 days", "Days left", "Monthly grant"]}
    />
  );
}

/** Shown while nothing is left and nothing is held. */
export function NoCreditsLeft() {
  const { slug } = useContext(OrganizationContext);
  const { data } = useQuery(useTRPC().credits.balance.queryOptions());
  if (!data || Number(data.available) > 0 || data.openRuns > 0) return null;
  return (
    <Empty title="No credits left">
      <p>
        Runs need credits. Ask the operator of this installation to grant some to{" "}
        <span className="mono text-ink">{slug}</span>.
      </p>
    </Empty>
  );
}
