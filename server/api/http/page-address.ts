/**
 * The header that passes the request's path and query from the process (serve.ts, serve/next.ts) to pages and route
 * handlers: Next hides it from server components and normalizes it for the others. It is set on every request, which
 * overwrites a client's value.
 */
export const PAGE_ADDRESS_HEADER = "x-stepwell-page";
