"use client";

import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { useEvents } from "@/app/_ui/live";
import { useTRPC, useTRPCClient } from "@/app/_ui/providers";
import type { RunFilter } from "@/server/runs/filter";
import type { RunPage, RunSummary } from "@/server/runs/list";
import { isTerminal } from "@/server/runs/words";
import { runsQuery } from "./query";

/** The ids that a ring names; written by hand, since zod weighs too much for a page. */
function readIds(text: string): string[] {
  const data: unknown = JSON.parse(text);
  const ids: unknown = typeof data === "object" && data !== null && "ids" in data ? data.ids : [];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

/** The API looks at no more rows at once. */
const MOST_IDS = 200;

/**
 * Keeps the shown rows up to date in place and counts the runs that came since, which wait until the reader
 * asks for them.
 */
export function useLiveRuns(
  filter: RunFilter,
  shown: RunSummary[],
): { waiting: number; showWaiting: () => void } {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { queryKey } = runsQuery(trpc, filter);
  const [waiting, setWaiting] = useState<{ count: number; after: string | null }>({ count: 0, after: null });
  const busy = useRef(false);
  const newest = shown[0]?.id ?? null;

  const showWaiting = useCallback(() => {
    // Only the first page: what was loaded further down is read again when the reader gets there.
    queryClient.setQueryData<InfiniteData<RunPage>>(queryKey, (data) =>
      data ? { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) } : data,
    );
    void queryClient.refetchQueries({ queryKey });
  }, [queryClient, queryKey]);

  async function look(ids: string[]): Promise<void> {
    const known = new Set(shown.map((run) => run.id));
    const inView = ids.filter((id) => known.has(id));
    // No ids: rings may have been lost, so look at all that can still change.
    const wanted =
      ids.length > 0 ? inView : shown.filter((run) => !isTerminal(run.status)).map((run) => run.id);
    const mayBeNew = ids.length === 0 || ids.some((id) => !known.has(id));
    const [rows, count] = await Promise.all([
      wanted.length > 0 ? client.runs.byIds.query({ ids: wanted.slice(0, MOST_IDS) }) : [],
      mayBeNew ? client.runs.countNewer.query({ filter, after: newest }) : undefined,
    ]);
    if (rows.length > 0) {
      const fresh = new Map(rows.map((row) => [row.id, row]));
      queryClient.setQueryData<InfiniteData<RunPage>>(queryKey, (data) =>
        data
          ? {
              ...data,
              pages: data.pages.map((page) => ({
                ...page,
                items: page.items.map((item) => newerOf(item, fresh.get(item.id))),
              })),
            }
          : data,
      );
    }
    if (count === undefined) return;
    if (newest === null && count > 0) showWaiting();
    else setWaiting({ count, after: newest });
  }

  /** Rings that came while a look was under way; "all" stands for a ring without ids. */
  const rung = useRef<Set<string>>(new Set());

  async function lookUntilQuiet(): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    try {
      while (rung.current.size > 0) {
        const ids = rung.current.has("all") ? [] : [...rung.current];
        rung.current = new Set();
        await look(ids);
      }
    } catch {
      // The next event looks again.
    } finally {
      busy.current = false;
    }
  }

  const ring = (ids: string[]) => {
    for (const id of ids.length > 0 ? ids : ["all"]) rung.current.add(id);
    void lookUntilQuiet();
  };
  useEvents(
    () => "/api/live/runs",
    { runs: (data) => ring(readIds(data)) },
    () => ring([]),
  );

  return { waiting: waiting.after === newest ? waiting.count : 0, showWaiting };
}

function newerOf(known: RunSummary, fresh: RunSummary | undefined): RunSummary {
  return fresh && fresh.sequence >= known.sequence ? fresh : known;
}
