/**
 * Where the runs list was left: its address, so that a run's way back leads to the same view, and the run that one looks at,
 * so that the keyboard goes on from its row. Both retryWhileUnavailable a page that is loaded anew.
 */
const SEARCH = "runs-left";
const RUN = "runs-opened";

/** A run is opened from its row. */
export function rememberList(runId: string): void {
  sessionStorage.setItem(SEARCH, location.search);
  sessionStorage.setItem(RUN, runId);
}

/** One has walked on to another run of the same list. */
export function rememberOpenedRun(runId: string): void {
  sessionStorage.setItem(RUN, runId);
}

/** The query string of the list as it was left; empty, which is the whole list, when it was not. */
export function lastListSearch(): string {
  return sessionStorage.getItem(SEARCH) ?? "";
}

/** The run that was looked at from the list with this query string; null when none was. */
export function lastOpenedRun(search: string): string | null {
  return lastListSearch() === search ? sessionStorage.getItem(RUN) : null;
}
