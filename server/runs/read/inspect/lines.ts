import { z } from "zod";
import type { Prisma } from "@/server/db/generated/client";
import type { Attempt } from "@/server/models/port";
import { readAttempts } from "@/server/runs/attempts";

/** One model call in the timeline. Times are ISO 8601, durations milliseconds, credits a decimal. */
export type CallLine = {
  id: string;
  key: string;
  iteration: number;
  model: string;
  provider: string;
  status: "Running" | "Completed" | "Failed";
  /** How many function and tool calls it requested. */
  asked: number;
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
  credits: string;
  attempts: Attempt[];
  startedAt: string;
  finishedAt: string | null;
  durationMs: number | null;
  sequence: number;
};

/** One step in the timeline; `inspectStep` returns its texts. */
export type StepLine = {
  id: string;
  key: string;
  number: number;
  iteration: number;
  name: string;
  status: "Running" | "Completed" | "Failed";
  /** Whether it failed and the tool's definition lets the run continue (onError). */
  tolerated: boolean;
  errorMessage: string | null;
  /** The ended attempts if there were several, with the start of their errors. */
  attempts: Attempt[];
  credits: string;
  childRunId: string | null;
  /** What its child run has used so far. */
  childCredits: string | null;
  startedAt: string;
  finishedAt: string | null;
  durationMs: number | null;
  sequence: number;
};

export const STEP_LINE = {
  id: true,
  key: true,
  stepNumber: true,
  iterationNumber: true,
  toolName: true,
  status: true,
  errorMessage: true,
  attempts: true,
  credits: true,
  childRunId: true,
  startedAt: true,
  finishedAt: true,
  durationMs: true,
  sequence: true,
} satisfies Prisma.StepSelect;

export const CALL_LINE = {
  id: true,
  key: true,
  iterationNumber: true,
  model: true,
  provider: true,
  status: true,
  toolCalls: true,
  inputTokens: true,
  outputTokens: true,
  estimated: true,
  credits: true,
  attempts: true,
  startedAt: true,
  finishedAt: true,
  durationMs: true,
  sequence: true,
} satisfies Prisma.ModelCallSelect;

/** `spent`: credits of child runs, by their ids. `tolerant`: the steps of the tool that continue on errors. */
export function viewStepLine(
  step: Prisma.StepGetPayload<{ select: typeof STEP_LINE }>,
  { spent, tolerant }: { spent: ReadonlyMap<string, string>; tolerant: ReadonlySet<string> },
): StepLine {
  return {
    id: step.id,
    key: step.key,
    number: step.stepNumber,
    iteration: step.iterationNumber,
    name: step.toolName,
    status: step.status,
    tolerated: step.status === "Failed" && tolerant.has(step.key.replace(/\[\d+\]$/, "")),
    errorMessage: step.errorMessage,
    attempts: attemptsOfLine(step),
    credits: step.credits.toFixed(4),
    childRunId: step.childRunId,
    childCredits: (step.childRunId && spent.get(step.childRunId)) ?? null,
    startedAt: step.startedAt.toISOString(),
    finishedAt: step.finishedAt?.toISOString() ?? null,
    durationMs: step.durationMs,
    sequence: step.sequence,
  };
}

export function viewCallLine(call: Prisma.ModelCallGetPayload<{ select: typeof CALL_LINE }>): CallLine {
  return {
    id: call.id,
    key: call.key,
    iteration: call.iterationNumber,
    model: call.model,
    provider: call.provider,
    status: call.status,
    asked: readToolCalls(call.toolCalls).length,
    inputTokens: call.inputTokens,
    outputTokens: call.outputTokens,
    estimated: call.estimated,
    credits: call.credits.toFixed(4),
    attempts: attemptsOfLine(call),
    startedAt: call.startedAt.toISOString(),
    finishedAt: call.finishedAt?.toISOString() ?? null,
    durationMs: call.durationMs,
    sequence: call.sequence,
  };
}

/** How much of an attempt's error a timeline line shows, in characters. */
const ERROR_OF_LINE = 200;

/** The attempts of a line; none if the first one says all. */
function attemptsOfLine({
  attempts: text,
  status,
}: {
  attempts: string;
  status: StepLine["status"];
}): Attempt[] {
  const attempts = readAttempts(text);
  if (attempts.length < 2 && status !== "Running") return [];
  return attempts.map(({ console: _, ...each }) => ({
    ...each,
    error: each.error?.slice(0, ERROR_OF_LINE) ?? null,
  }));
}

const toolCallList = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).catch([]);

export function readToolCalls(text: string): z.infer<typeof toolCallList> {
  return toolCallList.parse(parseOr(text, []));
}

function parseOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
