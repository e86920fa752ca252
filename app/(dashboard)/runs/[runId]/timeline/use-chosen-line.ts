"use client";

import { useSearchParams } from "next/navigation";
import { useCallback, useState } from "react";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { chooseLine, describeAddress, isNamed, readAddress, writeAddress } from "../line-address";
import { type Line, lineId, type WorkLine } from "../lines";

/** The selected line, and whether the reader selected it (in the URL) or it is the newest of a live run. */
export type Choice = {
  line: Line | null;
  /** The line in the address; it may be newer than the rendered one. */
  latest: () => Line | null;
  /** Whether it is the newest line of a live run, and the next one will replace it. */
  following: boolean;
  /** What the URL names but the run does not have. */
  missing: string | null;
  /** Null: follow the newest line. */
  choose: (line: Line | null) => void;
  /** Keeps the current line when newer ones arrive. */
  stay: () => void;
};

/**
 * Follows a live run until the reader selects a line. A run followed to its end stays at its last line.
 * @param loading whether lines that the URL may name are still loading
 */
export function useChosenLine(
  run: RunDetail,
  { lines, own, wasLive, loading }: { lines: Line[]; own: WorkLine[]; wasLive: boolean; loading: boolean },
): Choice {
  const address = readAddress(useSearchParams());
  const [stayedAt, setStayedAt] = useState<string | null>(null);
  const named = lines.find((line) => isNamed(line, address));
  const stayed = stayedAt === null ? undefined : lines.find((line) => lineId(line) === stayedAt);
  const atEnd = wasLive && run.status === "Completed" ? own.at(-1) : undefined;
  const line = named ?? stayed ?? atEnd ?? chooseLine(lines, {}, run);
  const following = !isTerminal(run.status) && !named && !stayed;

  const latest = () => {
    const wanted = readAddress(new URLSearchParams(window.location.search));
    return lines.find((each) => isNamed(each, wanted)) ?? line;
  };
  const choose = useCallback((next: Line | null) => {
    setStayedAt(null);
    const url = new URL(window.location.href);
    writeAddress(url.searchParams, next);
    window.history.replaceState(null, "", url);
  }, []);
  return {
    line,
    latest,
    following,
    missing: named || loading ? null : describeAddress(address),
    choose,
    stay: () => {
      if (following && line) setStayedAt(lineId(line));
    },
  };
}
