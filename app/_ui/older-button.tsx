"use client";

import { Button } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";

/** Loads the next, older page of a list. An error is shown beside the button and leaves the rows unchanged. */
export function OlderButton({
  what,
  query,
}: {
  /** The rows in the plural: `deliveries`. */
  what: string;
  query: {
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    error: unknown;
    fetchNextPage: () => unknown;
  };
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className="flex flex-col items-center gap-2 py-4">
      {query.isFetchNextPageError ? (
        <p className="text-failed" role="alert">
          {describeError(query.error).message}
        </p>
      ) : null}
      <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? `Loading older ${what}` : `Load older ${what}`}
      </Button>
    </div>
  );
}
