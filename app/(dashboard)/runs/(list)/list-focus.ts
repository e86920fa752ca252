import { useEffect, useEffectEvent, useRef } from "react";
import { usePageKeys } from "@/app/_ui/page/page-keys";
import type { RunSummary } from "@/server/runs/read/list";
import { lastOpenedRun } from "../last-list";

/**
 * `j`, `k` and, inside the list, the arrow keys up and down move between rows; right and left show and hide child
 * runs; `enter` opens a run, `x` selects it, `/` focuses the search.
 */
export function useListKeys(list: React.RefObject<HTMLElement | null>): void {
  const rowsAndFocus = () => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    return { rows, at: rows.findIndex((row) => row.matches(":focus")) };
  };
  const move = (by: 1 | -1, onlyInside: boolean) => () => {
    const { rows, at } = rowsAndFocus();
    if (onlyInside && at < 0) return false;
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    next?.focus();
    return next?.closest("tr")?.scrollIntoView({ block: "nearest" });
  };
  const unfold = () => {
    const { rows, at } = rowsAndFocus();
    const button = buttonOf(rows[at]);
    return button?.ariaExpanded === "false" ? button.click() : false;
  };
  const fold = () => {
    const { rows, at } = rowsAndFocus();
    const row = rows[at];
    const button = buttonOf(row);
    if (button?.ariaExpanded === "true") return button.click();
    const caller = rows
      .slice(0, Math.max(0, at))
      .reverse()
      .find((each) => depthOf(each) < depthOf(row));
    return caller ? caller.focus() : false;
  };
  usePageKeys({
    j: move(1, false),
    k: move(-1, false),
    ArrowDown: move(1, true),
    ArrowUp: move(-1, true),
    ArrowRight: unfold,
    ArrowLeft: fold,
    "/": () => document.querySelector<HTMLInputElement>("[data-search]")?.focus(),
    x: ({ target }) =>
      target instanceof HTMLElement &&
      target.matches("[data-row]") &&
      target.closest("tr")?.querySelector<HTMLElement>("[data-select]")?.click(),
  });
}

const buttonOf = (row: HTMLElement | undefined) =>
  row?.closest("tr")?.querySelector<HTMLElement>("[data-unfold]");
const depthOf = (row: HTMLElement | undefined) => Number(row?.dataset.row ?? 0);

const MAX_ROWS = 500;

/**
 * On return from a run's page, focuses that run's row and loads more pages if needed. Stops as soon as the reader
 * does something else.
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
