"use client";

import { Button } from "@/app/_ui/button";
import { Problem } from "@/app/_ui/page";
import { describeError } from "@/app/_ui/query-client";

/** Stands where a list would be when it could not be read. `what` is the whole sentence. */
export function Unreadable({ what, error, onRetry }: { what: string; error: unknown; onRetry: () => void }) {
  return (
    <Problem title={what}>
      <p>{describeError(error).message}</p>
      <Button className="mt-3" onClick={onRetry}>
        Try again
      </Button>
    </Problem>
  );
}
