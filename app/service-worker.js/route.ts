import { createHash } from "node:crypto";

const STYLE = `
:root { color-scheme: light dark; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; box-sizing: border-box;
  font: 14px/1.5 system-ui, sans-serif;
  background: light-dark(#ffffff, #141413); color: light-dark(#1a1a18, #ececea);
}
main { max-width: 26rem; }
h1 { font-size: 20px; margin: 0.75rem 0 0.5rem; }
p { margin: 0 0 1rem; color: light-dark(#5c5c57, #a8a8a2); }
a {
  display: inline-block; padding: 0.5rem 0.875rem; border-radius: 6px; font-weight: 500; text-decoration: none;
  background: light-dark(#4f46c8, #5d54d8); color: #ffffff;
}
a:focus-visible { outline: 2px solid light-dark(#5b52d6, #9a92f5); outline-offset: 2px; }`;

/** Replaces the browser's own error page and reloads the address without a script. */
const UNREACHABLE_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>Server not reached - Stepwell</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<svg width="28" height="28" viewBox="0 0 20 20" fill="#5b52d6" aria-hidden="true"><rect x="2" y="13" width="6" height="4" rx="1"/><rect x="2" y="8" width="10" height="4" rx="1" opacity=".75"/><rect x="2" y="3" width="16" height="4" rx="1" opacity=".5"/></svg>
<h1>The server cannot be reached</h1>
<p>Check your connection. This page tries again every 5 seconds. Your drafts stay in this browser.</p>
<a href="">Try again</a>
</main>
</body>
</html>`;

const UNREACHABLE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

/** Answers navigations if no server responds. Stores nothing and touches no other request. */
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

export function GET(): Response {
  return new Response(SCRIPT, {
    headers: { "Content-Type": "text/javascript", "Cache-Control": "no-cache" },
  });
}
