"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { type Line, lineFacts } from "../lines";

/** A pointer that passes over a row fetches nothing. */
const DWELL_MS = 60;

/** Fetches a line's details while the pointer rests on it, so that a click shows them immediately. */
export function usePreload(): (line: Line) => void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (line) => {
    clearTimeout(timer.current);
    // What still changes is fetched when it is opened.
    if (lineFacts(line).status === "Running") return;
    if (line.kind === "wait" || line.kind === "group") return;
    const { runId } = line;
    const work = line.kind === "attempt" ? line.of : line;
    timer.current = setTimeout(() => {
      void (work.kind === "step"
        ? queryClient.prefetchQuery(trpc.runs.step.queryOptions({ runId, stepId: work.step.id }))
        : queryClient.prefetchQuery(trpc.runs.modelCall.queryOptions({ runId, callId: work.call.id })));
    }, DWELL_MS);
  };
}
