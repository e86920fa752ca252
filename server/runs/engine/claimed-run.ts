import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { type Decimal, decimalText, ZERO } from "@/server/base/amount";
import type { PriceList } from "@/server/base/models/price-list";
import { RUN_KINDS, RUN_SOURCES, type RunKind } from "@/server/contract/enums";
import type { FailureCode } from "@/server/runs/failure-codes";
import type { RunFacts } from "@/server/runs/run-facts";
import type { RunConfiguration } from "@/server/work/agent/definition";

// `of`: whose setting it is, for the error message.
const cap = z.object({ credits: decimalText, of: z.string() });
export type Cap = z.output<typeof cap>;

export function capOfTarget(kind: RunKind, maxCredits: Decimal | null): Cap | null {
  return maxCredits && { credits: maxCredits, of: `the ${kind}'s setting` };
}

export function capColumns(cap: Cap | null) {
  return { cap: cap?.credits.toFixed(4) ?? null, cap_of: cap?.of ?? null };
}

export const claimedRow = z.object({
  id: z.string(),
  orgId: z.string(),
  kind: z.enum(RUN_KINDS),
  source: z.enum(RUN_SOURCES),
  targetId: z.string(),
  /** The number of the claim: a run claimed before has a journal to read. */
  epoch: z.number(),
  /** SHA-256 of the stored configuration, hexadecimal. */
  configurationHash: z.string(),
  /** With the prices at the start of the run. */
  document: z.string(),
  input: z.string(),
  rootRunId: z.string(),
  /** The trace of the root run's caller. */
  traceParent: z.string().nullable(),
  createdAt: z.date(),
  startedAt: z.date(),
  deadlineSeconds: z.number(),
  /** The rest of the deadline at the claim, by the database's clock. */
  leftMs: z.number(),
  cap: cap.nullable(),
  held: decimalText,
  storedBytes: z.number(),
  /** Each journal row and each change of status increments it. */
  sequence: z.number(),
  /** When the root run last left a worker in order: it yielded, or waited for a server's next call. */
  leftAt: z.date().nullable(),
});

/** A run that this process's worker executes. */
export type ClaimedRun = Omit<z.output<typeof claimedRow>, "orgId" | "document" | "leftMs"> & {
  orgId: OrgId;
  /** Milliseconds of the process's monotonic clock, so that setting a clock ends no run. */
  endsAtMs: number;
  configuration: RunConfiguration;
  prices: PriceList;
};

/**
 * The number of events before a run's first step: `run.waiting` for a slot if it waited, then `run.running`. A run that
 * waited started later than it was created (`claim_waiting_runs`).
 */
export function firstEvents({ createdAt, startedAt }: { createdAt: Date; startedAt: Date | null }): number {
  if (startedAt === null) return 1;
  return startedAt > createdAt ? 2 : 1;
}

/** A run that its start claims. */
export const FIRST_CLAIM = { epoch: 1, sequence: 1, leftAt: null, storedBytes: 0 };

export function deadlineOf(run: ClaimedRun): Date {
  return new Date(run.startedAt.getTime() + run.deadlineSeconds * 1000);
}

/**
 * A run counts no more input tokens, and no more output tokens. A provider may report any number, and both together must
 * fit into an `int` of the database. `open_run_figures` has the same limit.
 */
export const MAX_TOKENS_OF_RUN = 1_000_000_000;

/** Usage of the run so far, without its children. */
export type Totals = Pick<
  RunFacts,
  "stepsExecuted" | "actionsUsed" | "inputTokens" | "outputTokens" | "creditsUsed"
>;

export function noTotals(): Totals {
  return { stepsExecuted: 0, actionsUsed: 0, inputTokens: 0, outputTokens: 0, creditsUsed: ZERO };
}

/** Adds the tokens of a model call. */
export function addTokens(totals: Totals, used: Pick<Totals, "inputTokens" | "outputTokens">): void {
  for (const count of ["inputTokens", "outputTokens"] as const)
    totals[count] = Math.min(MAX_TOKENS_OF_RUN, totals[count] + used[count]);
}

export type Outcome =
  | { status: "Completed"; output: string }
  | { status: "Failed"; code: FailureCode; message: string }
  | { status: "Cancelled"; by: string };

/** Platform errors are not charged. */
export function isPlatformFailure(outcome: Outcome): outcome is Extract<Outcome, { status: "Failed" }> {
  return outcome.status === "Failed" && outcome.code === "internal_error";
}
