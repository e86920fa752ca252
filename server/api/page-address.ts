/**
 * The header in which the process (serve.ts) tells a page its own path and query, which Next keeps from server
 * components. It is set on every request, so a client's own is dropped; where Next runs alone it is missing.
 */
export const PAGE_ADDRESS_HEADER = "x-stepwell-page";
