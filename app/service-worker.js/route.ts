import { UNREACHABLE_HEADERS, UNREACHABLE_PAGE } from "./unreachable-page";

/** Answers navigations that fail because no server responds. It stores nothing and touches no other request. */
const SCRIPT = `
const page = ${JSON.stringify(UNREACHABLE_PAGE)};
const headers = ${JSON.stringify(UNREACHABLE_HEADERS)};

async function load(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch {
    return new Response(page, { status: 503, headers });
  }
}

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => {
  // The request is sent while the worker starts.
  event.waitUntil(Promise.all([registration.navigationPreload?.enable(), clients.claim()]));
});
addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(load(event));
});
`;

/** The service worker of the dashboard. */
export function GET(): Response {
  return new Response(SCRIPT, {
    headers: { "Content-Type": "text/javascript", "Cache-Control": "no-cache" },
  });
}
