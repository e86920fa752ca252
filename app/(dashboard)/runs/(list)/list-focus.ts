import { useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";
import { isPageKey } from "@/app/_ui/page/page-keys";
import type { RunSummary } from "@/server/runs/read/list";
import { lastOpenedRun } from "../last-list";

/**
 * `j`, `k` and, inside the list, the arrow keys move between rows; `enter` opens a run, `x` selects it, `/` focuses the
 * search.
 */
export function useListKeys(list: React.RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!isPageKey(event)) return;
      const target = event.target instanceof HTMLElement ? event.target : null;
      if (event.key === "x" && target?.matches("[data-row]")) {
        target.closest("tr")?.querySelector<HTMLElement>("[data-select]")?.click();
        return;
      }
      if (event.key === "/") {
        document.querySelector<HTMLInputElement>("[data-search]")?.focus();
        event.preventDefault();
        return;
      }
      const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
      const at = rows.findIndex((row) => row.matches(":focus"));
      const arrows = at >= 0;
      const step =
        event.key === "j" || (arrows && event.key === "ArrowDown")
          ? 1
          : event.key === "k" || (arrows && event.key === "ArrowUp")
            ? -1
            : 0;
      if (step === 0) return;
      event.preventDefault();
      const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
      next?.focus();
      next?.closest("tr")?.scrollIntoView({ block: "nearest" });
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [list]);
}

/** How many rows are loaded to find the run to return to. */
const MAX_ROWS = 500;

/**
 * On return from a run's page, focuses the row of that run. If it is further down, more pages are loaded. It stops as
 * soon as the reader does something else.
 */
export function useReturn(
  list: React.RefObject<HTMLElement | null>,
  { lastId, count, more }: { lastId: string | undefined; count: number; more: (() => void) | undefined },
): void {
  const over = useRef(false);
  const loadMore = useEffectEvent(() => {
    if (more && count < MAX_ROWS) more();
    else over.current = true;
  });
  useEffect(() => {
    if (over.current || lastId === undefined) return;
    const runId = lastOpenedRun(location.search);
    if (runId === null || document.activeElement !== document.body) {
      over.current = true;
    } else if (runId < lastId) {
      loadMore();
    } else {
      over.current = true;
      const row = list.current?.querySelector<HTMLElement>(`[data-row][href="/runs/${runId}"]`);
      row?.focus({ preventScroll: true });
      row?.closest("tr")?.scrollIntoView({ block: "nearest" });
    }
  }, [list, lastId]);
}

/** Scrolls to a run's row once it is in the list. */
export function useReveal(
  list: React.RefObject<HTMLElement | null>,
  runs: RunSummary[],
): (id: string) => void {
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
