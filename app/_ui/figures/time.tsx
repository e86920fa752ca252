"use client";

import { useNow, usePageTime, useTimeZone } from "@/app/_ui/data/clock";
import {
  formatAgo,
  formatDate,
  formatDuration,
  formatExact,
  formatMoment,
  formatTimeOfDay,
} from "@/app/_ui/figures/format";

/** An exact time, for the title of a link that covers a whole row and hides the titles inside it. */
export function useExact(at: string): string {
  return formatExact(new Date(at), useTimeZone());
}

type TimeProps = { at: string; className?: string };

function Time({ at, className, children }: TimeProps & { children: string }) {
  return (
    <time className={className} dateTime={at} title={useExact(at)}>
      {children}
    </time>
  );
}

export function Ago(props: TimeProps) {
  return <Time {...props}>{formatAgo(new Date(props.at), useNow(), useTimeZone())}</Time>;
}

/** A date and time of day; only the time of day if `after` is on the same day. */
export function Moment({ after, ...props }: TimeProps & { after?: string }) {
  const now = usePageTime();
  const timeZone = useTimeZone();
  const date = new Date(props.at);
  const sameDay = after !== undefined && formatDate(new Date(after), timeZone) === formatDate(date, timeZone);
  return (
    <Time {...props}>{sameDay ? formatTimeOfDay(date, timeZone) : formatMoment(date, timeZone, now)}</Time>
  );
}

export function Day(props: TimeProps) {
  return <Time {...props}>{formatDate(new Date(props.at), useTimeZone())}</Time>;
}

type ElapsedProps = { from: string | null; to: string | null; lively?: boolean };

/** The duration of something so far. Empty before the start. */
export function Elapsed({ from, to, lively = false }: ElapsedProps) {
  if (from === null) return null;
  if (to === null) return <RunningElapsed from={from} lively={lively} />;
  return <>{formatDuration(new Date(to).getTime() - new Date(from).getTime())}</>;
}

function RunningElapsed({ from, lively }: { from: string; lively: boolean }) {
  const now = useNow(lively);
  return <>{formatDuration(Math.max(0, now - new Date(from).getTime()))}</>;
}
