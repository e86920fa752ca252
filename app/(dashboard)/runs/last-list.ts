/** The URL of the runs list and the last opened run, for the way back. Both survive a reload. */
const SEARCH = "runs-left";
const RUN = "runs-opened";

export function rememberList(runId: string): void {
  sessionStorage.setItem(SEARCH, location.search);
  sessionStorage.setItem(RUN, runId);
}

/** Called when the reader moves on to another run of the list. */
export function rememberOpenedRun(runId: string): void {
  sessionStorage.setItem(RUN, runId);
}

/** The query string of the last list; empty if there was none. */
export function lastListSearch(): string {
  return sessionStorage.getItem(SEARCH) ?? "";
}

/** The last run opened from the list with this query string; null if none was. */
export function lastOpenedRun(search: string): string | null {
  return lastListSearch() === search ? sessionStorage.getItem(RUN) : null;
}
