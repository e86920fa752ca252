"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Fact, Facts } from "@/app/_ui/figures/facts";
import { formatSpan } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { DetailHead } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { Badge } from "@/app/_ui/row-name";
import type { ScheduleDetail } from "@/server/catalog/schedules/inspect-schedules";
import { NextTime } from "../next-time";
import { NextTimes } from "../next-times";
import { ScheduleActions } from "./schedule-actions";
import { REFRESH_MS, Ticks } from "./ticks";

const OVERLAPS = {
  skip: "Skip the time",
  queue: "Queue one start; skip further times",
  allow: "Start anyway",
};

export function ScheduleView({ scheduleId }: { scheduleId: string }) {
  const trpc = useTRPC();
  const { data: schedule } = useSuspenseQuery({
    ...trpc.schedules.inspect.queryOptions({ scheduleId }),
    refetchInterval: REFRESH_MS,
  });
  const { id, slug, name, cron, timeZone, pausedAt } = schedule;
  usePageActions([{ label: "Runs of this schedule", href: `/runs?schedule=${id}` }]);
  return (
    <article>
      <DetailHead back={{ href: "/schedules", label: "Schedules" }} title={name}>
        {slug === name ? null : <span className="mono text-muted">{slug}</span>}
        {pausedAt === null ? null : <Badge>paused</Badge>}
        <span className="ml-auto flex flex-wrap items-center gap-x-3 gap-y-2">
          <Link className="text-accent hover:underline" href={`/runs?schedule=${id}`}>
            All runs
          </Link>
          <ScheduleActions schedule={schedule} />
        </span>
      </DetailHead>
      <Definition schedule={schedule} />
      {pausedAt === null ? (
        <div className="px-4 py-4 sm:px-6">
          <NextTimes cron={cron} timeZone={timeZone} />
        </div>
      ) : null}
      <Ticks scheduleId={id} />
    </article>
  );
}

function Definition({ schedule }: { schedule: ScheduleDetail }) {
  const { target, cron, timeZone, nextAt, pausedAt, overlap, catchUpSeconds, jitterSeconds, input } =
    schedule;
  return (
    <Facts label="Definition">
      <Fact name="Next">
        {nextAt !== null ? (
          <NextTime at={nextAt} />
        ) : pausedAt !== null ? (
          <span className="text-muted">
            Paused since <Moment at={pausedAt} />
          </span>
        ) : (
          <span className="text-muted">None</span>
        )}
      </Fact>
      <Fact name="Starts">
        <span className="text-muted capitalize">{target.kind}</span>{" "}
        {target.gone ? (
          target.name
        ) : (
          <Link className="text-accent hover:underline" href={`/${target.kind}s/${target.id}`}>
            {target.name}
          </Link>
        )}
        {target.gone ? <span className="text-failed"> (deleted: nothing starts)</span> : null}
      </Fact>
      <Fact name="Times">
        <span className="mono">{cron}</span> {timeZone}
        {jitterSeconds > 0 ? `, delayed by up to ${formatSpan(jitterSeconds * 1_000)}` : null}
      </Fact>
      <Fact name="Overlap">{OVERLAPS[overlap]}</Fact>
      <Fact name="Catch-up">Within {formatSpan(catchUpSeconds * 1_000)}</Fact>
      <Fact name={target.kind === "agent" ? "Message" : "Input"}>
        <pre className="mono max-h-60 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
          {input}
        </pre>
      </Fact>
    </Facts>
  );
}
