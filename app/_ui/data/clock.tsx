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
import { rememberInCookie } from "./browser-storage";
import { serverTime, syncWithPage } from "./server-clock";
import { useBrowserValue } from "./store";

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

/** The time at which the server made the page, in ms. */
export function usePageTime(): number {
  return useContext(TimeContext).now;
}
