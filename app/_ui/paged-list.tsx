"use client";

import {
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryOptions,
  useInfiniteQuery,
} from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { Button } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";
import { LineList, type LineListProps } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";

type AnyPage = { items: readonly unknown[] };

/**
 * Reads a list page by page; `lines` are those of all pages so far. A poll reads every page again, so the more there
 * are, the rarer it is: every `pollMs` for each page.
 */
export function usePages<Page extends AnyPage, Failure, Key extends QueryKey, Cursor>(
  options: UseInfiniteQueryOptions<Page, Failure, InfiniteData<Page, Cursor>, Key, Cursor>,
  pollMs?: number,
) {
  const query = useInfiniteQuery({
    ...options,
    refetchInterval: ({ state }) =>
      pollMs === undefined ? false : pollMs * Math.max(1, state.data?.pages.length ?? 1),
  });
  const pages = query.data?.pages;
  const lines = useMemo<Page["items"][number][]>(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  return { query, pages: pages ?? [], lines };
}

type PagedListProps<Line> = Omit<LineListProps<Line>, "lines" | "isStale" | "empty"> & {
  list: { query: PagedQuery; lines: readonly Line[] };
  what: string;
  empty: ReactNode;
  foot?: ReactNode;
};
type PagedQuery = {
  isPending: boolean;
  isSuccess: boolean;
  isError: boolean;
  isPlaceholderData: boolean;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  refetch: () => unknown;
  fetchNextPage: () => unknown;
};

/** The lines of `usePages` with the states of their query: loading, failed, empty, and a button for older ones. */
export function PagedList<Line>({
  list: { query, lines },
  what,
  empty,
  foot,
  ...props
}: PagedListProps<Line>) {
  if (query.isError && lines.length === 0) {
    return <Unreadable query={query} what={`Could not load ${what}`} />;
  }
  return (
    <>
      <LineList
        {...props}
        empty={query.hasNextPage ? undefined : empty}
        isStale={query.isPlaceholderData}
        lines={query.isPending ? null : lines}
      />
      {lines.length === 0 || query.hasNextPage || query.isPlaceholderData ? null : foot}
      <OlderButton query={query} what={what} />
    </>
  );
}

/** Loads the next page, and says why it could not. */
export function OlderButton({ what, query }: { what: string; query: PagedQuery }) {
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
