import { type RefObject, useEffect, useRef } from "react";
import type { RunSummary } from "@/server/runs/read/list";

/** Scrolls to a run's row once it is in the list. */
export function useReveal(list: RefObject<HTMLElement | null>, runs: RunSummary[]): (id: string) => void {
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    if (wanted.current === null || !runs.some((run) => run.id === wanted.current)) return;
    list.current?.querySelector(`[href="/runs/${wanted.current}"]`)?.scrollIntoView({ block: "center" });
    wanted.current = null;
  }, [list, runs]);
  return (id) => {
    wanted.current = id;
  };
}
