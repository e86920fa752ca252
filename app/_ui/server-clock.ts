/**
 * The server's clock, told from the browser's. Runs carry the server's times; a browser whose clock is wrong would count
 * wrong durations with its own.
 */

/** How far the server's clock is ahead of the browser's, as far as one knows, in ms. */
let aheadMs = 0;

/** Two moments, in ms. */
type Span = readonly [from: number, to: number];

/**
 * How far a server's clock is ahead, in ms, when it showed a time within `shown` while the browser's showed one within
 * `asked`. What was known stays as long as it can be true.
 */
export function clockOffset(known: number, shown: Span, asked: Span): number {
  const least = shown[0] - asked[1];
  const most = shown[1] - asked[0];
  return least <= known && known <= most ? known : Math.round((least + most) / 2);
}

/** Learns from a page that the server rendered at `now`, in ms, while the browser was loading it. */
export function syncWithPage(now: number): void {
  const [page] = performance.getEntriesByType("navigation");
  if (!(page instanceof PerformanceNavigationTiming) || page.responseStart === 0) return;
  const began = Date.now() - performance.now();
  aheadMs = clockOffset(aheadMs, [now, now], [began + page.requestStart, began + page.responseStart]);
}

/** Learns from an answer that was asked for at `askedAt` of the browser's clock, in ms. */
export function syncWithResponse(answer: Response, askedAt: number): void {
  // Whole seconds.
  const date = Date.parse(answer.headers.get("date") ?? "");
  if (Number.isFinite(date)) aheadMs = clockOffset(aheadMs, [date, date + 999], [askedAt, Date.now()]);
}

/** The present by the server's clock, in ms; `own` is the present by the browser's. */
export function serverTime(own = Date.now()): number {
  return own + aheadMs;
}
