import { useEffect } from "react";
import { isPageKey } from "@/app/_ui/page-keys";
import { runOpenedFrom } from "./list-left";

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

/** Coming back, the keyboard goes on from the run that was opened, once its row is there again. */
export function useReturn(list: React.RefObject<HTMLElement | null>, rowsAreThere: boolean): void {
  useEffect(() => {
    if (!rowsAreThere || document.activeElement !== document.body) return;
    const runId = runOpenedFrom(location.search);
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    rows.find((row) => row.getAttribute("href") === `/runs/${runId}`)?.focus({ preventScroll: true });
  }, [list, rowsAreThere]);
}
