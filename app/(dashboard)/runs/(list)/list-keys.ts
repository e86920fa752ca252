import { useEffect, useEffectEvent, useRef } from "react";
import { isPageKey } from "@/app/_ui/page-keys";
import { lastOpenedRun } from "../last-list";

/** `j` and `k` (and the arrows, once in the list) walk the rows, `enter` opens, `x` selects, `/` goes to the search. */
export function useListKeys(list: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
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

/** So many rows at most are loaded for the sake of the one that is returned to. */
const MOST_ROWS = 500;

/**
 * Coming back, the keyboard goes on from the run that was looked at: its row has the focus once it is there, for which
 * further pages are loaded where it stands deeper in the list. Whoever does something else meanwhile is left alone.
 */
export function useReturn(
  list: React.RefObject<HTMLElement | null>,
  { lastId, count, more }: { lastId: string | undefined; count: number; more: (() => void) | undefined },
): void {
  const over = useRef(false);
  const loadMore = useEffectEvent(() => {
    if (more && count < MOST_ROWS) more();
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
