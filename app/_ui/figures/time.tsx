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
import { rememberInCookie } from "@/app/_ui/data/browser-storage";
import { serverTime, syncWithPage } from "@/app/_ui/data/server-clock";
import { useBrowserValue } from "@/app/_ui/data/store";
import {
  formatAgo,
  formatDate,
  formatDuration,
  formatExact,
  formatMoment,
  formatTimeOfDay,
} from "@/app/_ui/figures/format";

/**
 * From the server, so that both first render the same. `chosen`: the reader chose the zone, else it is the
 * browser's.
 */
const TimeContext = createContext({ now: 0, timeZone: "UTC", chosen: false });

type TimeProviderProps = { now: number; timeZone: string; chosen: boolean; children: ReactNode };

export function TimeProvider({ now, timeZone, chosen, children }: TimeProviderProps) {
  const value = useMemo(() => ({ now, timeZone, chosen }), [now, timeZone, chosen]);
  // Runs once, before any component asks for the time. A later `now` is from another load.
  useState(() => typeof window === "object" && syncWithPage(now));
  useEffect(() => {
    const own = ownTimeZone();
    if (!chosen && own !== timeZone) rememberInCookie("tz", own);
  }, [timeZone, chosen]);
  return <TimeContext value={value}>{children}</TimeContext>;
}

export function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

/** The reader's time zone; a cookie sends it to the server. */
export function useTimeZone(): string {
  const { timeZone, chosen } = useContext(TimeContext);
  const own = useBrowserValue(ownTimeZone, timeZone);
  return chosen ? timeZone : own;
}

/** The zone that the reader chose; null: the browser's. */
export function useChosenTimeZone(): string | null {
  const { timeZone, chosen } = useContext(TimeContext);
  return chosen ? timeZone : null;
}

/** Chooses a zone for all pages in this browser; null: the browser's. The next render by the server uses it. */
export function chooseTimeZone(timeZone: string | null): void {
  rememberInCookie("zone", timeZone);
}

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
      // Without a timer, the value must still be stable between two reads in one render.
      if (!timer && Date.now() - current > paceMs) current = Date.now();
      return current;
    },
  };
}

const slow = createTicker(1_000);
const fast = createTicker(100);

/** The server's current time in ms, updated once a second, or ten times a second if `lively`. */
export function useNow(lively = false): number {
  const { now } = useContext(TimeContext);
  const ticker = lively ? fast : slow;
  return useSyncExternalStore(
    ticker.subscribe,
    () => serverTime(ticker.read()),
    () => now,
  );
}

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
  const { now } = useContext(TimeContext);
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
