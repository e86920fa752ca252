import { rememberInCookie } from "@/app/_ui/data/browser-storage";
import { createStore } from "@/app/_ui/data/store";
import { type ColumnName, writeColumns } from "./column-choice";

/** Chosen since the page was rendered: a page that the router kept has older columns. */
const chosen = createStore<readonly ColumnName[] | null>(null);

/** The columns of the list, remembered by the browser. @param initial as the server rendered them */
export function useColumns(initial: readonly ColumnName[]) {
  return {
    columns: chosen.use() ?? initial,
    choose(columns: readonly ColumnName[]): void {
      rememberInCookie("columns", writeColumns(columns));
      chosen.set(columns);
    },
  };
}
