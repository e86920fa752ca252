import type { Prisma } from "@/server/base/db/generated/client";
import { readAttempts, readToolCalls } from "@/server/runs/attempts";
import { isInterrupted } from "@/server/runs/failure-codes";
import type { Attempt } from "@/server/work/models/port";
import type { SkipNote } from "@/server/work/workflow/skip-note";

/** A step without its texts, for the timeline and for files. */
export const STEP_COLUMNS = {
  id: true,
  key: true,
  stepNumber: true,
  iterationNumber: true,
  toolName: true,
  status: true,
  credits: true,
  errorMessage: true,
  attempts: true,
  childRunId: true,
  startedAt: true,
  finishedAt: true,
  durationMs: true,
} satisfies Prisma.StepSelect;

/** The columns of a step that the timeline reads; `inspectStep` also reads its texts. */
export const STEP_OF_TIMELINE = { ...STEP_COLUMNS, sequence: true } satisfies Prisma.StepSelect;

/** A model call without its texts, for the timeline and for files. */
export const CALL_COLUMNS = {
  id: true,
  key: true,
  iterationNumber: true,
  provider: true,
  model: true,
  status: true,
  toolCalls: true,
  inputTokens: true,
  outputTokens: true,
  cachedInputTokens: true,
  cacheWriteTokens: true,
  reasoningTokens: true,
  estimated: true,
  errorMessage: true,
  credits: true,
  attempts: true,
  startedAt: true,
  finishedAt: true,
  durationMs: true,
} satisfies Prisma.ModelCallSelect;

/** The columns of a model call that the timeline reads; `inspectCall` also reads its texts. */
export const CALL_OF_TIMELINE = { ...CALL_COLUMNS, sequence: true } satisfies Prisma.ModelCallSelect;

type StepRow = Prisma.StepGetPayload<{ select: typeof STEP_OF_TIMELINE }>;
type CallRow = Prisma.ModelCallGetPayload<{ select: typeof CALL_OF_TIMELINE }>;

/** One step in the timeline. Times are ISO 8601, durations milliseconds, credits a decimal. */
export type StepLine = ReturnType<typeof viewStepLine>;

export type CallLine = ReturnType<typeof viewCallLine>;

/** `spent`: credits of child runs by id. `tolerant`: steps that continue on errors. `skipped`: reasons by step id. */
export function viewStepLine(
  step: StepRow,
  {
    spent,
    tolerant,
    skipped,
  }: {
    spent?: Map<string, string> | undefined;
    tolerant?: Set<string> | undefined;
    skipped?: Map<string, SkipNote> | undefined;
  },
) {
  const { stepNumber, iterationNumber, toolName, ...facts } = step;
  return {
    ...facts,
    ...viewLine(step),
    number: stepNumber,
    name: toolName,
    tolerated: step.status === "Failed" && (tolerant?.has(step.key.replace(/\[\d+\]$/, "")) ?? false),
    interrupted: isInterrupted(step.errorMessage),
    skipped: skipped?.get(step.id) ?? null,
    childCredits: (step.childRunId && spent?.get(step.childRunId)) ?? null,
  };
}

export function viewCallLine(call: CallRow) {
  const { iterationNumber, toolCalls, errorMessage, ...facts } = call;
  return {
    ...facts,
    ...viewLine(call),
    asked: readToolCalls(toolCalls).length,
    fellBack: hasFallenBack(readAttempts(facts.attempts), call.model),
    // A cancel of the run ended it; what it had received is stored.
    interrupted: isInterrupted(errorMessage),
  };
}

const hasFallenBack = ([first]: Attempt[], model: string) =>
  first?.model !== undefined && first.model !== model;

function viewLine({ iterationNumber, status, attempts, credits, startedAt, finishedAt }: StepRow | CallRow) {
  return {
    iteration: iterationNumber,
    attempts: attemptsOfLine(readAttempts(attempts), status),
    credits: credits.toFixed(4),
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

const ERROR_OF_LINE = 200;

function attemptsOfLine(attempts: Attempt[], status: StepRow["status"]): Attempt[] {
  if (attempts.length < 2 && status !== "Running") return [];
  return attempts.map(({ startedAt, durationMs, error, retryAt, waited }) => ({
    startedAt,
    durationMs,
    retryAt,
    waited,
    error: error?.slice(0, ERROR_OF_LINE) ?? null,
  }));
}
