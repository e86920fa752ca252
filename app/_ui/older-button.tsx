"use client";

import { Button } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/query-client";

/** The next, older page of a list; says what went wrong beside itself, so that the rows above stay. */
export function OlderButton({
  what,
  query,
}: {
  /** What the rows are, in the plural: `deliveries`. */
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
