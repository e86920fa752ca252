"use client";

import { Button } from "@/app/_ui/button";
import { PlainPage } from "@/app/_ui/page/plain-page";
import "./globals.css";

export default function GlobalError({ retry }: { error: Error; retry: () => void }) {
  return (
    <html lang="en">
      <body>
        <title>Stepwell</title>
        <PlainPage title="Could not show the dashboard">
          <p className="mb-4 text-muted">The server could not render this page. The cause is in its log.</p>
          <Button look="primary" onClick={retry}>
            Try again
          </Button>
        </PlainPage>
      </body>
    </html>
  );
}
