import { type InfiniteData, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useEvents } from "@/app/_ui/data/live";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { isTerminal } from "@/server/contract/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunPage, RunSummary } from "@/server/runs/read/list";
import { runsQuery } from "../query";
import { chunk, MAX_ASKED, pagesUpTo, questionAfter, stillWaiting, waitingAfter } from "./new-runs";

const NO_IDS: ReadonlySet<string> = new Set();

/**
 * Updates the visible rows, and finds runs that match the filter since (new-runs.ts).
 * @param view null: the filter's rows are still loading.
 */
export function useLiveRuns(filter: RunFilter, view: { shown: RunSummary[]; hasOlder: boolean } | null) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { queryKey } = runsQuery(trpc, filter);
  const key = JSON.stringify(filter);
  const [found, setFound] = useState<{ key: string; ids: ReadonlySet<string> }>({ key, ids: NO_IDS });
  const busy = useRef(false);
  const askedAllAt = useRef(Number.NEGATIVE_INFINITY);
  const latest = useRef({ filter, view, key, queryKey });
  useEffect(() => {
    latest.current = { filter, view, key, queryKey };
  });
  const waiting = view && found.key === key ? stillWaiting(found.ids, view) : [];

  /** Also what is counted of the rows. */
  function refetchShown(queryKey: QueryKey): void {
    void queryClient.refetchQueries({ queryKey });
    void queryClient.invalidateQueries({ queryKey: trpc.runs.errors.pathKey() });
  }

  function showWaiting(): string | undefined {
    const oldest = waiting.at(-1);
    queryClient.setQueryData<InfiniteData<RunPage>>(queryKey, (data) => {
      if (!data) return data;
      const kept = oldest === undefined ? 1 : pagesUpTo(oldest, data.pages);
      return { pages: data.pages.slice(0, kept), pageParams: data.pageParams.slice(0, kept) };
    });
    refetchShown(queryKey);
    return waiting[0];
  }

  async function refresh(ids: string[]): Promise<void> {
    const { filter, view, key, queryKey } = latest.current;
    if (!view) return;
    const { shown } = view;
    // No ids: notifications may have been lost, so check everything that can still change.
    const changed = new Set(ids);
    const wanted = shown
      .filter((run) => (ids.length > 0 ? changed.has(run.id) : !isTerminal(run.status)))
      .map((run) => run.id);
    const question = questionAfter(ids, view, performance.now() - askedAllAt.current);
    const [pieces, fitting] = await Promise.all([
      Promise.all(chunk(wanted, MAX_ASKED).map((ids) => client.runs.byIds.query({ ids }))),
      question?.about === "all"
        ? client.runs.ids.query({ filter, after: question.after, limit: question.limit })
        : question && client.runs.fitting.query({ filter, ids: question.ids }),
    ]);
    const rows = pieces.flat();
    if (rows.length > 0) {
      const fresh = new Map(rows.map((row) => [row.id, row]));
      queryClient.setQueryData<InfiniteData<RunPage>>(
        queryKey,
        (data) =>
          data && {
            ...data,
            pages: data.pages.map((page) => ({
              ...page,
              items: page.items.map((item) => newerOf(item, fresh.get(item.id))),
            })),
          },
      );
    }
    if (!question || !fitting) return;
    if (question.about === "all") askedAllAt.current = performance.now();
    if (shown.length === 0 && fitting.length > 0) {
      refetchShown(queryKey);
      return;
    }
    setFound((before) => ({
      key,
      ids: waitingAfter(before.key === key ? before.ids : NO_IDS, question, fitting),
    }));
  }

  /** Ids notified during a query; "all": a notification had no ids. */
  const changedIds = useRef<Set<string>>(new Set());

  async function refreshUntilCurrent(): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    try {
      while (changedIds.current.size > 0) {
        const ids = changedIds.current.has("all") ? [] : [...changedIds.current];
        changedIds.current = new Set();
        await refresh(ids);
      }
    } catch {
      // The next event queries again.
    } finally {
      busy.current = false;
    }
  }

  const noteChanges = (ids: readonly string[]) => {
    for (const id of ids.length > 0 ? ids : ["all"]) changedIds.current.add(id);
    void refreshUntilCurrent();
  };
  useEvents(
    () => "/api/live/runs",
    {
      runs: (data) => {
        const changed: { ids: string[] } = JSON.parse(data);
        noteChanges(changed.ids);
      },
    },
    () => noteChanges([]),
  );

  return { waiting: waiting.length, showWaiting };
}

function newerOf(known: RunSummary, fresh: RunSummary | undefined): RunSummary {
  return fresh && fresh.sequence >= known.sequence ? fresh : known;
}
