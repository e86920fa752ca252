import type { CallLine, StepLine } from "@/server/runs/read/inspect/lines";

/** A completed step of a run's timeline, named by its key. */
export function stepLine(key: string, more: Partial<StepLine> = {}): StepLine {
  return {
    id: `${key}-id`,
    key,
    number: 1,
    iteration: 1,
    name: "calculate",
    status: "Completed",
    tolerated: false,
    interrupted: false,
    skipped: null,
    errorMessage: null,
    attempts: [],
    credits: "0.0100",
    childRunId: null,
    childCredits: null,
    startedAt: "2026-11-21T01:22:07.000Z",
    finishedAt: null,
    durationMs: null,
    sequence: 1,
    ...more,
  };
}

export function callLine(key: string, more: Partial<CallLine> = {}): CallLine {
  return {
    id: `${key}-id`,
    key,
    iteration: 1,
    model: "m",
    provider: "p",
    status: "Completed",
    asked: 0,
    fellBack: false,
    interrupted: false,
    inputTokens: 1,
    outputTokens: 1,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    estimated: false,
    credits: "0.0000",
    attempts: [],
    startedAt: "2026-11-21T01:22:07.000Z",
    finishedAt: null,
    durationMs: null,
    sequence: 1,
    ...more,
  };
}
