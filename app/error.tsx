"use client";

import { Button } from "@/app/_ui/button";
import { PlainPage } from "@/app/_ui/page/plain-page";

type Props = { error: Error & { digest?: string }; retry: () => void };

export default function PageError({ error, retry }: Props) {
  return (
    <PlainPage alert title="Could not show this page">
      <p className="mb-4 text-muted">
        The server could not render this page{error.digest ? ` (reference ${error.digest})` : ""}. The cause
        is in its log.
      </p>
      <Button look="primary" onClick={retry}>
        Try again
      </Button>
    </PlainPage>
  );
}
