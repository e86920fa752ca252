"use client";

import { Button } from "@/app/_ui/button";
import { Problem } from "@/app/_ui/page";

export default function PageError({
  error,
  retry,
}: {
  error: Error & { digest?: string };
  retry: () => void;
}) {
  return (
    <main>
      <Problem title="This page could not be shown">
        <p>
          The server could not render this page{error.digest ? ` (reference ${error.digest})` : ""}. The cause
          is in its log.
        </p>
        <Button className="mt-3" onClick={retry}>
          Try again
        </Button>
      </Problem>
    </main>
  );
}
