import { keepPreviousData, useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { createRefetch } from "@/app/_ui/data/refetch";
import { formatCount } from "@/app/_ui/figures/format";
import { useRested } from "@/app/_ui/use-rested";
import { anyCase } from "@/server/base/json/any-case";
import { formatLimit } from "@/server/contract/sizes";
import { SEARCHED_START } from "@/server/runs/read/enums";
import type { Line } from "../lines";

const PAUSE_MS = 250;
/** A search reads all texts of a run. */
const REFRESH_MS = 3_000;

/** Searches the names of lines immediately, and all their texts on the server. */
export function useFind(runId: string, lines: Line[]) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [text, setText] = useState("");
  const query = text.trim();
  const rested = useRested(query, PAUSE_MS);
  const searchText = query === "" ? "" : rested;
  const runIds = [...new Set([runId, ...lines.map((line) => line.runId)])];
  const results = useQueries({
    queries: runIds.map((runId) => ({
      ...trpc.runs.searchSteps.queryOptions({ runId, text: searchText || "-" }),
      enabled: searchText !== "",
      placeholderData: keepPreviousData,
    })),
  });
  const [refetch] = useState(() => createRefetch(queryClient));
  useRefreshAfterChanges(lines, () => {
    if (searchText === "") return;
    for (const runId of runIds) void refetch(trpc.runs.searchSteps.queryKey({ runId, text: searchText }));
  });
  const ids = new Set(searchText === "" ? [] : results.flatMap(({ data }) => data?.ids ?? []));
  const looking =
    query !== searchText ||
    results.some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData);
  const pattern = new RegExp(anyCase(query), "u");

  function describeNothing(): string {
    if (looking) return "Searching all inputs and outputs.";
    if (results.some(({ isError }) => isError)) return "The search failed. Change it to try again.";
    return results.some(({ data }) => data?.startsOnly)
      ? `Nothing found. The run is large: only the first ${formatLimit(SEARCHED_START)} of each text were searched.`
      : "Nothing found in names, inputs, outputs and answers of the model.";
  }

  return {
    text,
    setText,
    searchText,
    matches: (line: Line) =>
      query === "" || ids.has(line.id) || namesOf(line).some((name) => pattern.test(name)),
    describe: (shown: number) => {
      if (query === "") return "";
      return looking ? "searching" : `${formatCount(shown)} of ${formatCount(lines.length)}`;
    },
    nothing: describeNothing(),
  };
}

/** Calls `refresh` a while after lines have changed: at once would be too often for a live run. */
function useRefreshAfterChanges(lines: Line[], refresh: () => void): void {
  const known = useRef(lines);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const refreshNow = useEffectEvent(() => {
    timer.current = undefined;
    refresh();
  });
  useEffect(() => {
    if (known.current === lines) return;
    known.current = lines;
    timer.current ??= setTimeout(() => refreshNow(), REFRESH_MS);
  }, [lines]);
  useEffect(() => () => clearTimeout(timer.current), []);
}

function namesOf(line: Line): string[] {
  if (line.kind === "attempt") return [line.label, line.attempt.error ?? ""];
  return line.kind === "step" ? [line.label, line.step.name, String(line.step.number)] : [line.label];
}
