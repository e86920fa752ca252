"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatMinute, formatWeekday } from "@/app/_ui/figures/format";
import { useRested } from "@/app/_ui/use-rested";

const RESTED_MS = 250;
const REFRESH_MS = 60_000;

/** The next ten times of a cron expression in its zone and in UTC, also while it is typed. */
export function NextTimes({ cron, timeZone }: { cron: string; timeZone: string }) {
  const trpc = useTRPC();
  const rule = useRested(JSON.stringify({ cron, timeZone }), RESTED_MS);
  const asked = rule === JSON.stringify({ cron, timeZone });
  const { data } = useQuery({
    ...trpc.schedules.preview.queryOptions({ cron, timeZone }),
    enabled: asked && cron.trim() !== "" && timeZone.trim() !== "",
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <section aria-label="Next ten times" aria-live="polite" className="flex flex-col gap-1.5">
      <h3 className="font-medium">Next ten times</h3>
      {data?.issue ? (
        <p className="text-muted [overflow-wrap:anywhere]">
          The {data.issue.field === "cron" ? "expression" : "time zone"} {data.issue.message}.
        </p>
      ) : (
        <ol className="grid gap-x-6 sm:grid-cols-2">
          {(data?.times ?? []).map(({ at, local }) => {
            const shown = new Date(`${local}Z`);
            return (
              <li className="flex justify-between gap-3 tabular-nums" key={at}>
                <span>
                  {formatWeekday(shown, "UTC")} {formatMinute(shown, "UTC")}
                </span>
                <span className="text-muted">{formatMinute(new Date(at), "UTC")} UTC</span>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
