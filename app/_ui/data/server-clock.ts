/** Estimates the server's clock, because durations counted with a wrong browser clock would be wrong. */

/** Milliseconds by which the server's clock is ahead of the browser's. */
let aheadMs = 0;

type Span = readonly [from: number, to: number];

/**
 * The server clock's lead in ms: it showed a time within `shown` while the browser's showed one within `asked`.
 * Keeps `known` while it is possible.
 */
export function clockOffset(known: number, shown: Span, asked: Span): number {
  const least = shown[0] - asked[1];
  const most = shown[1] - asked[0];
  return least <= known && known <= most ? known : Math.round((least + most) / 2);
}

/** Updates the offset from a page that the server rendered at `now`, in ms, during the browser's request. */
export function syncWithPage(now: number): void {
  const [page] = performance.getEntriesByType("navigation");
  if (!(page instanceof PerformanceNavigationTiming) || page.responseStart === 0) return;
  const began = Date.now() - performance.now();
  aheadMs = clockOffset(aheadMs, [now, now], [began + page.requestStart, began + page.responseStart]);
}

/** Updates the offset from a response to a request sent at `askedAt` of the browser's clock, in ms. */
export function syncWithResponse(answer: Response, askedAt: number): void {
  // The header has whole seconds.
  const date = Date.parse(answer.headers.get("date") ?? "");
  if (Number.isFinite(date)) aheadMs = clockOffset(aheadMs, [date, date + 999], [askedAt, Date.now()]);
}

/** The current time by the server's clock, in ms; `own` is the browser's. */
export function serverTime(own = Date.now()): number {
  return own + aheadMs;
}
