"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useTRPC } from "@/app/_ui/providers";
import { type Line, lineFacts } from "../lines";

/** A pointer that only passes over a row asks for nothing. */
const DWELL_MS = 60;

/** Fetches what the inspector shows of a line when the pointer rests on it, so that a click finds it there. */
export function usePreload(): (line: Line) => void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (line) => {
    clearTimeout(timer.current);
    // What still changes is fetched when it is looked at.
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
