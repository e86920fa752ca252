import type { IncomingMessage } from "node:http";
import { keepOwnCookies } from "@/server/catalog/auth/own-cookies";
import { KIB } from "@/server/contract/sizes";
import { isRouterState, ROUTER_STATE_HEADER } from "./router-state";

/**
 * Bounds what Next gets of a request. Next does more than linear work for cookies, query parameters and some
 * headers (docs/decisions/0033-requests-for-pages.md).
 */

/** A filtered list's address has some 20. */
const MAX_QUERY_PARAMETERS = 64;
/** Browsers and proxies send some 40. */
const MAX_HEADERS = 128;

const MAX_HEADER_LENGTH = 1 * KIB;
/** Stepwell's cookies, and the page that a followed link comes from. */
const LONG_HEADERS = ["cookie", ROUTER_STATE_HEADER];

const READS = ["GET", "HEAD"];

/** The status to reject a request with; null if Next may have it. `dev`: Next's own pages also get POST. */
export function rejectionOf(
  { method = "", rawHeaders }: IncomingMessage,
  url: URL,
  { dev }: { dev: boolean },
): 400 | 405 | 431 | null {
  // Pages have no server actions, whose bodies Next would parse.
  if (!dev && !url.pathname.startsWith("/api/") && !READS.includes(method)) return 405;
  if (rawHeaders.length > 2 * MAX_HEADERS) return 431;
  return url.search.split("&", MAX_QUERY_PARAMETERS + 1).length > MAX_QUERY_PARAMETERS ||
    isMalformed(url.pathname)
    ? 400
    : null;
}

/** Next answers a malformed escape in a page's parameter with 500. */
function isMalformed(path: string): boolean {
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}

/**
 * Removes the cookies of other services on the same host, and long headers. Next tests User-Agent with an
 * expression that takes quadratic time.
 */
export function reduceHeaders({ headers }: IncomingMessage): void {
  const own = keepOwnCookies(headers.cookie);
  if (own === undefined) delete headers.cookie;
  else headers.cookie = own;
  // A proxy appends the client's address to what the client sent.
  const forwarded = headers["x-forwarded-for"];
  if (typeof forwarded === "string") headers["x-forwarded-for"] = forwarded.slice(-MAX_HEADER_LENGTH);
  const state = headers[ROUTER_STATE_HEADER];
  if (typeof state === "string" && !isRouterState(state)) delete headers[ROUTER_STATE_HEADER];
  for (const name in headers) {
    const { length = 0 } = headers[name] ?? {};
    if (length > MAX_HEADER_LENGTH && !LONG_HEADERS.includes(name)) delete headers[name];
  }
}

/** The same for a call of the API that Next passes on: it reads no cookies, and webhooks store the other headers. */
export function reduceApiHeaders({ headers }: IncomingMessage): void {
  delete headers.cookie;
  if (headers["user-agent"] !== undefined)
    headers["user-agent"] = headers["user-agent"].slice(0, MAX_HEADER_LENGTH);
}
