import type { RunConfiguration } from "@/server/agent/definition";
import type { OrgId } from "@/server/auth/actor";
import type { Decimal } from "@/server/credits/amount";
import type { PriceList } from "@/server/credits/prices";

/** Most that a run and its children may use, and whose setting that is, in words for the error message. */
export type Cap = { credits: Decimal; of: string };

/** What a run has used so far, its children left out. */
export type Totals = {
  steps: number;
  actions: number;
  inputTokens: number;
  outputTokens: number;
  credits: Decimal;
};

/** A run that this process's worker executes. */
export type ClaimedRun = {
  id: string;
  orgId: OrgId;
  kind: "agent" | "tool";
  targetId: string;
  /** Counts claims: a run claimed before has a journal to read. */
  epoch: number;
  /** Which stretch of the run this is: 1 until it yields its slot for the first time. */
  segment: number;
  configuration: RunConfiguration;
  /** SHA-256 of the configuration as it is stored, hexadecimal. */
  configurationHash: string;
  /** What things cost this run: the price list of the moment it was started. */
  prices: PriceList;
  input: string;
  rootRunId: string;
  /** Whether a webhook started the root run, so that what it works on comes from outside. */
  fromOutside: boolean;
  createdAt: Date;
  startedAt: Date;
  deadlineSeconds: number;
  cap: Cap | null;
  /** The root run's hold. */
  held: Decimal;
  /** Number of the run's newest change; each journal row and each change of status has one. */
  sequence: number;
  /** When it yielded its slot for the last time. */
  yieldedAt: Date | null;
};

/** When the run has had its time. */
export function deadlineOf(run: ClaimedRun): Date {
  return new Date(run.startedAt.getTime() + run.deadlineSeconds * 1000);
}
