"use client";

import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount } from "@/app/_ui/figures/format";
import { useRested } from "@/app/_ui/use-rested";
import { anyCase } from "@/server/any-case";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { type Line, lineId } from "../lines";

/** The server is queried after a pause of this length. */
const PAUSE_MS = 250;

/** Searches the names of lines immediately, and all their texts on the server. */
export function useFind(
  run: RunDetail,
  lines: Line[],
): {
  text: string;
  setText: (text: string) => void;
  /** The text that is searched in texts; empty without a search. */
  searchText: string;
  matches: (line: Line) => boolean;
  /** Describes how many lines match. */
  describe: (shown: number) => string;
  /** Shown if no line matches. */
  nothing: string;
} {
  const trpc = useTRPC();
  const [text, setText] = useState("");
  const query = text.trim();
  const rested = useRested(query, PAUSE_MS);
  const searchText = query === "" ? "" : rested;
  const runIds = [...new Set([run.id, ...lines.map(({ runId }) => runId)])];
  const results = useQueries({
    queries: runIds.map((runId) => ({
      ...trpc.runs.searchSteps.queryOptions({ runId, text: searchText || "-" }),
      enabled: searchText !== "",
      placeholderData: keepPreviousData,
    })),
  });
  const ids = new Set(searchText === "" ? [] : results.flatMap(({ data }) => data?.ids ?? []));
  const looking = query !== searchText || results.some(({ isFetching }) => isFetching);
  const failed = results.some(({ isError }) => isError);
  const startsOnly = results.some(({ data }) => data?.startsOnly);
  const pattern = useMemo(() => new RegExp(anyCase(query), "u"), [query]);
  return {
    text,
    setText,
    searchText,
    matches: (line) =>
      query === "" || ids.has(lineId(line)) || namesOf(line).some((name) => pattern.test(name)),
    describe: (shown) =>
      query === "" ? "" : looking ? "searching" : `${formatCount(shown)} of ${formatCount(lines.length)}`,
    nothing: looking
      ? "Searching all inputs and outputs."
      : failed
        ? "The search failed. Change it to try again."
        : startsOnly
          ? "Nothing found. The run is large: only the first 64 KiB of each text were searched."
          : "Nothing found in names, inputs, outputs and answers of the model.",
  };
}

function namesOf(line: Line): string[] {
  if (line.kind === "attempt") return [line.label, line.attempt.error ?? ""];
  return line.kind === "step" ? [line.label, line.step.name, String(line.step.number)] : [line.label];
}
