import { z } from "zod";
import type { Prisma } from "@/server/db/generated/client";
import { tryParseJson } from "@/server/json/json";
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
  const { stepNumber, iterationNumber, toolName, ...facts } = step;
  return {
    ...facts,
    number: stepNumber,
    iteration: iterationNumber,
    name: toolName,
    tolerated: step.status === "Failed" && tolerant.has(step.key.replace(/\[\d+\]$/, "")),
    attempts: attemptsOfLine(step),
    credits: step.credits.toFixed(4),
    childCredits: (step.childRunId && spent.get(step.childRunId)) ?? null,
    startedAt: step.startedAt.toISOString(),
    finishedAt: step.finishedAt?.toISOString() ?? null,
  };
}

export function viewCallLine(call: Prisma.ModelCallGetPayload<{ select: typeof CALL_LINE }>): CallLine {
  const { iterationNumber, toolCalls, ...facts } = call;
  return {
    ...facts,
    iteration: iterationNumber,
    asked: readToolCalls(toolCalls).length,
    credits: call.credits.toFixed(4),
    attempts: attemptsOfLine(call),
    startedAt: call.startedAt.toISOString(),
    finishedAt: call.finishedAt?.toISOString() ?? null,
  };
}

/** How much of an attempt's error a timeline line shows, in characters. */
const ERROR_OF_LINE = 200;

/** The attempts of a line; none if there was only one and it did not fail. */
function attemptsOfLine(line: { attempts: string; status: StepLine["status"] }): Attempt[] {
  const attempts = readAttempts(line.attempts);
  if (attempts.length < 2 && line.status !== "Running") return [];
  return attempts.map(({ console: _, ...each }) => ({
    ...each,
    error: each.error?.slice(0, ERROR_OF_LINE) ?? null,
  }));
}

const toolCallList = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).catch([]);

export function readToolCalls(text: string): z.infer<typeof toolCallList> {
  return toolCallList.parse(tryParseJson(text));
}
