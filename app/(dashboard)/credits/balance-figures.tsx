"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { formatCount, formatCredits, formatDate, formatPlural, NONE } from "@/app/_ui/figures/format";
import { useNow, useTimeZone } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { FiguresSkeleton } from "@/app/_ui/page/skeletons";
import { Unreadable } from "@/app/_ui/text/unreadable";

/** Small amounts with the ledger's precision, so that use is never shown as 0.00. */
const formatPerDay = (credits: number) => formatCredits(credits.toFixed(4), credits < 0.01 ? 4 : 2);

const MANY_DAYS = 3_650;

/** What can be spent, how fast it is spent, and for how long it lasts. */
export function BalanceFigures() {
  const trpc = useTRPC();
  const timeZone = useTimeZone();
  const now = useNow();
  const balance = useQuery(trpc.credits.balance.queryOptions());
  const use = useQuery(trpc.runs.metrics.queryOptions({ period: "7d" }));
  const failed = [balance, use].find(({ isError }) => isError);
  if (failed) return <Unreadable query={failed} what="The balance could not be read" />;
  if (!balance.data || !use.data) return <BalanceSkeleton />;
  const { available, held, openRuns, monthly } = balance.data;
  const { total, buckets } = use.data;
  const week = Number(total.credits);
  // Zero divided by zero would be no number, and no date.
  const daysLeft = week === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Number(available) / (week / 7));
  const end =
    daysLeft >= MANY_DAYS
      ? "more than ten years"
      : `until ${formatDate(new Date(now + daysLeft * 86_400_000), timeZone)}`;
  const shownDays = daysLeft >= MANY_DAYS ? `${formatCount(MANY_DAYS)}+` : formatCount(Math.floor(daysLeft));
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
        note={total.runs === 0 ? "No runs" : `by ${formatPlural(total.runs, "run")}`}
        value={week === 0 ? NONE : formatPerDay(week / 7)}
      />
      <Figure
        name="Days left"
        note={
          week === 0 ? "Nothing was used in the last 7 days" : `at this rate, without another grant: ${end}`
        }
        value={week === 0 ? NONE : shownDays}
      />
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
      <Link className="text-accent underline" href="/runs?status=Pending,Running">
        {formatPlural(openRuns, "open run")}
      </Link>
    </>
  );
}

/** Credits by day, from bars of some hours. */
function daysOf(buckets: readonly { from: string; credits: string }[]): number[] {
  const days = new Map<string, number>();
  for (const { from, credits } of buckets) {
    const day = from.slice(0, 10);
    days.set(day, (days.get(day) ?? 0) + Number(credits));
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
