"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Figure, Figures, Sparkline } from "@/app/_ui/figures/figures";
import { formatCount, formatCredits, formatDate, formatPlural } from "@/app/_ui/figures/format";
import { useNow, useTimeZone } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page/page";
import { Unreadable } from "@/app/_ui/text/unreadable";

/** Small amounts with the ledger's precision, so that use is never shown as 0.00. */
const formatPerDay = (credits: number) => formatCredits(credits.toFixed(4), credits < 0.01 ? 4 : 2);

const MANY_DAYS = 3_650;
const formatDays = (days: number | null) =>
  days === null ? "–" : days < MANY_DAYS ? formatCount(Math.floor(days)) : `${formatCount(MANY_DAYS)}+`;
const describeRuns = (runs: number) => (runs === 0 ? "No runs" : `by ${formatPlural(runs, "run")}`);

/** What can be spent, how fast it is spent, and for how long it lasts. */
export function BalanceFigures() {
  const trpc = useTRPC();
  const timeZone = useTimeZone();
  const now = useNow();
  const balance = useQuery(trpc.credits.balance.queryOptions());
  const use = useQuery(trpc.runs.metrics.queryOptions({ period: "7d" }));
  const failed = [balance, use].find(({ isError }) => isError);
  if (failed?.error) {
    return (
      <Unreadable
        error={failed.error}
        onRetry={() => void Promise.all([balance.refetch(), use.refetch()])}
        what="The balance could not be read"
      />
    );
  }
  const week = use.data ? Number(use.data.total.credits) : null;
  /** For how many days the balance lasts; null if nothing is used. */
  const left = balance.data && week ? Math.max(0, Number(balance.data.available) / (week / 7)) : null;
  return (
    <Figures label="Balance">
      <Figure
        name="Balance"
        note={balance.data ? <Held held={balance.data.held} openRuns={balance.data.openRuns} /> : <Loading />}
        value={balance.data ? formatCredits(balance.data.available, 2) : <Loading />}
      />
      <Figure
        chart={use.data ? <Sparkline values={daysOf(use.data.buckets)} /> : null}
        name="Used per day, last 7 days"
        note={use.data ? describeRuns(use.data.total.runs) : <Loading />}
        value={week === null ? <Loading /> : week === 0 ? "–" : formatPerDay(week / 7)}
      />
      <Figure
        name="Days left"
        note={
          !balance.data || !use.data ? (
            <Loading />
          ) : left === null ? (
            "Nothing was used in the last 7 days"
          ) : (
            `at this rate, without another grant: ${left < MANY_DAYS ? `until ${formatDate(new Date(now + left * 86_400_000), timeZone)}` : "more than ten years"}`
          )
        }
        value={balance.data && use.data ? formatDays(left) : <Loading />}
      />
      <Figure
        name="Monthly grant"
        note={
          balance.data ? (
            Number(balance.data.monthly) > 0 ? (
              "From the plan"
            ) : (
              "The plan has none"
            )
          ) : (
            <Loading />
          )
        }
        value={
          balance.data ? (
            Number(balance.data.monthly) > 0 ? (
              formatCredits(balance.data.monthly, 2)
            ) : (
              "–"
            )
          ) : (
            <Loading />
          )
        }
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

const Loading = () => <SkeletonLine className="w-24" />;
