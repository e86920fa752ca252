/**
 * The header in which the process (serve.ts, serve-next.ts) tells a page or a route handler its own path and query, which
 * Next keeps from server components and normalizes for the others. It is set on every request, so a client's own is dropped.
 */
export const PAGE_ADDRESS_HEADER = "x-stepwell-page";
