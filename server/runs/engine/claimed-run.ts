import type { RunConfiguration } from "@/server/agent/definition";
import type { OrgId } from "@/server/auth/actor";
import type { Decimal } from "@/server/credits/amount";
import type { PriceList } from "@/server/credits/prices";

/** The most a run and its children may use, and whose setting that is, for the error message. */
export type Cap = { credits: Decimal; of: string };

/** What a run has used so far, without its children. */
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
  /** The number of the claim: a run claimed before has a journal to read. */
  epoch: number;
  /** The run's segment: 1 until it first yields its slot. */
  segment: number;
  configuration: RunConfiguration;
  /** SHA-256 of the stored configuration, hexadecimal. */
  configurationHash: string;
  /** The price list at the start of the run. */
  prices: PriceList;
  input: string;
  rootRunId: string;
  /** Whether a webhook started the root run, so that what it works on comes from outside. */
  fromOutside: boolean;
  createdAt: Date;
  startedAt: Date;
  deadlineSeconds: number;
  cap: Cap | null;
  held: Decimal;
  /** The number of the run's newest change; each journal row and each change of status has one. */
  sequence: number;
  yieldedAt: Date | null;
};

/** A run that its start claims. */
export const FIRST_CLAIM = { epoch: 1, segment: 1, sequence: 1, yieldedAt: null };

export function deadlineOf(run: ClaimedRun): Date {
  return new Date(run.startedAt.getTime() + run.deadlineSeconds * 1000);
}
