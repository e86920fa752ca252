/**
 * Where the runs list was left: its address, so that a run's way back leads to the same view, and the run that was opened,
 * so that the keyboard goes on from its row. The address outlasts a page that is loaded anew.
 */
const KEY = "runs-left";
let opened: { search: string; runId: string } | undefined;

export function leaveList(runId: string): void {
  opened = { search: location.search, runId };
  sessionStorage.setItem(KEY, location.search);
}

/** The address of the list as it was left; the whole list when it was not. */
export function listLeftAt(): string {
  return `/runs${sessionStorage.getItem(KEY) ?? ""}`;
}

/** The run that was opened from the list with this query string; undefined when none was. */
export function runOpenedFrom(search: string): string | undefined {
  return opened?.search === search ? opened.runId : undefined;
}
