"use client";

import { useSearchParams } from "next/navigation";
import { useCallback, useState } from "react";
import { isTerminal } from "@/server/runs/read/enums";
import type { RunDetail } from "@/server/runs/read/inspect";
import {
  chooseLine,
  describeAddress,
  isNamed,
  type Line,
  lineId,
  readAddress,
  type WorkLine,
  writeAddress,
} from "../lines";

/** Which line of a run's page is open, and who chose it: the reader, by the address, or the run, by going on. */
export type Choice = {
  line: Line | null;
  /** Whether it is the newest of a live run, and the next one will take its place. */
  following: boolean;
  /** What the address names and the run does not have, in words. */
  missing: string | null;
  /** Null: whatever is the newest, from now on. */
  choose: (line: Line | null) => void;
  /** Stays at the present line, though newer ones come: the reader looks at something. */
  stay: () => void;
};

/**
 * A live run is followed until the reader chooses a line or stays at one; one that was followed to its end shows what it
 * ended with.
 * @param loading whether lines that the address may name are still to come from elsewhere
 */
export function useChosenLine(
  run: RunDetail,
  lines: Line[],
  own: WorkLine[],
  { wasLive, loading }: { wasLive: boolean; loading: boolean },
): Choice {
  const address = readAddress(useSearchParams());
  const [stayedAt, setStayedAt] = useState<string | null>(null);
  const named = lines.find((line) => isNamed(line, address));
  const stayed = stayedAt === null ? undefined : lines.find((line) => lineId(line) === stayedAt);
  const atEnd = wasLive && run.status === "Completed" ? own.at(-1) : undefined;
  const line = named ?? stayed ?? atEnd ?? chooseLine(lines, {}, run);
  const following = !isTerminal(run.status) && !named && !stayed;

  const choose = useCallback((next: Line | null) => {
    setStayedAt(null);
    const url = new URL(window.location.href);
    writeAddress(url.searchParams, next);
    window.history.replaceState(null, "", url);
  }, []);
  return {
    line,
    following,
    missing: named || loading ? null : describeAddress(address),
    choose,
    stay: () => {
      if (following && line) setStayedAt(lineId(line));
    },
  };
}
