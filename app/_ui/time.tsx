"use client";

import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import { rememberInCookie } from "@/app/_ui/cookie";
import {
  formatAgo,
  formatDate,
  formatDuration,
  formatExact,
  formatMoment,
  formatTimeOfDay,
} from "@/app/_ui/format";
import { serverTime, syncWithPage } from "@/app/_ui/server-clock";

/** The server's moment and time zone, so that the first paint says the same on both sides. */
const TimeContext = createContext({ now: 0, timeZone: "UTC" });

export function TimeProvider({
  now,
  timeZone,
  children,
}: {
  now: number;
  timeZone: string;
  children: ReactNode;
}) {
  const value = useMemo(() => ({ now, timeZone }), [now, timeZone]);
  // Once, and before anything below asks for the time: a later `now` is not of the page's own loading.
  useState(() => typeof window === "object" && syncWithPage(now));
  useEffect(() => {
    const own = ownTimeZone();
    if (own !== timeZone) rememberInCookie("tz", own);
  }, [timeZone]);
  return <TimeContext value={value}>{children}</TimeContext>;
}

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

const never = () => () => {};

/** The reader's time zone; the server learns it by a cookie. */
export function useTimeZone(): string {
  const { timeZone } = useContext(TimeContext);
  return useSyncExternalStore(never, ownTimeZone, () => timeZone);
}

/** A clock that ticks for whoever looks at it, one timer per pace. */
function createTicker(paceMs: number) {
  let current = Date.now();
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      timer ??= setInterval(() => {
        current = Date.now();
        for (const each of listeners) each();
      }, paceMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    read: () => {
      // Nobody ticks yet: the value must still be stable between two reads of one render.
      if (!timer && Date.now() - current > paceMs) current = Date.now();
      return current;
    },
  };
}

const slow = createTicker(1_000);
const fast = createTicker(100);

/** The present by the server's clock in ms, once a second, or ten times a second when `lively`. */
export function useNow(lively = false): number {
  const { now } = useContext(TimeContext);
  const ticker = lively ? fast : slow;
  return useSyncExternalStore(
    ticker.subscribe,
    () => serverTime(ticker.read()),
    () => now,
  );
}

/** A moment, relative, with the exact one on hover. */
export function Ago({ at, className }: { at: string; className?: string }) {
  const now = useNow();
  const timeZone = useTimeZone();
  const date = new Date(at);
  return (
    <time className={className} dateTime={at} title={formatExact(date, timeZone)}>
      {formatAgo(date, now, timeZone)}
    </time>
  );
}

/** A moment to the millisecond, for the title of a link that covers its whole row, and with it the titles of the times in it. */
export function useExact(at: string): string {
  return formatExact(new Date(at), useTimeZone());
}

/** A moment as date and time of day; as the time of day alone where it is on the same day as the moment `after`. */
export function Moment({ at, after, className }: { at: string; after?: string; className?: string }) {
  const { now } = useContext(TimeContext);
  const timeZone = useTimeZone();
  const date = new Date(at);
  const sameDay = after !== undefined && formatDate(new Date(after), timeZone) === formatDate(date, timeZone);
  return (
    <time className={className} dateTime={at} title={formatExact(date, timeZone)}>
      {sameDay ? formatTimeOfDay(date, timeZone) : formatMoment(date, timeZone, now)}
    </time>
  );
}

/** A moment whose day is enough, with the exact one on hover. */
export function Day({ at, className }: { at: string; className?: string }) {
  const timeZone = useTimeZone();
  const date = new Date(at);
  return (
    <time className={className} dateTime={at} title={formatExact(date, timeZone)}>
      {formatDate(date, timeZone)}
    </time>
  );
}

/** How long something took, or has taken so far. Empty before the start. */
export function Elapsed({
  from,
  to,
  lively = false,
}: {
  from: string | null;
  to: string | null;
  lively?: boolean;
}) {
  if (from === null) return null;
  if (to === null) return <RunningElapsed from={from} lively={lively} />;
  return <>{formatDuration(new Date(to).getTime() - new Date(from).getTime())}</>;
}

function RunningElapsed({ from, lively }: { from: string; lively: boolean }) {
  const now = useNow(lively);
  return <>{formatDuration(Math.max(0, now - new Date(from).getTime()))}</>;
}
