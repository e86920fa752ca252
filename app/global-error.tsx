"use client";

import "./globals.css";

export default function GlobalError({ retry }: { error: Error; retry: () => void }) {
  return (
    <html lang="en">
      <body>
        <title>Stepwell</title>
        <main className="flex max-w-xl flex-col items-start gap-3 px-6 py-16">
          <h1 className="font-semibold text-lg">The dashboard could not be shown</h1>
          <p className="text-muted">The server could not render this page. The cause is in its log.</p>
          <button
            className="rounded-md border border-line-strong px-3 py-1.5 font-medium"
            onClick={retry}
            type="button"
          >
            Try again
          </button>
        </main>
      </body>
    </html>
  );
}
