import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import type { EndedStatus, RunSource } from "@/server/contract/enums";
import type { targetColumns } from "@/server/runs/target";

/**
 * `flush_writes` takes and returns these. Names are the function's JSON columns; amounts are decimal strings,
 * hashes hexadecimal, times ISO 8601.
 */

type TargetColumns = ReturnType<typeof targetColumns>;

/** A child run, on its root's slot and hold. */
export type ChildRow = TargetColumns & {
  id: string;
  org: OrgId;
  hash: string;
  document: string;
  parent: string;
  root: string;
  input: string;
  cap: string | null;
  cap_of: string | null;
  deadline: number;
};

/**
 * The rate limit of a call and the earlier call that it may repeat; null: none. A call rejected for another reason
 * still counts, and a rate limit or repetition takes precedence.
 */
export type CountedCall = {
  org: OrgId;
  rate_key: string | null;
  rate_limit: number;
  rate_seconds: number;
  scope: string | null;
  idem: string | null;
  /** SHA-256 of what a repetition must have in common. */
  hash: string | null;
  /** A webhook's repetition is checked before its rate limit, an API call's after. */
  replay_first: boolean;
};

export type StartItem = CountedCall &
  TargetColumns & {
    id: string;
    /** The answer to a repetition. */
    response: string | null;
    /** SHA-256 of the frozen configuration. */
    configuration: string;
    /** Null if the configuration is known to be stored. */
    document: string | null;
    source: Exclude<RunSource, "run">;
    trigger: string | null;
    schedule: string | null;
    api_key: string | null;
    user: string | null;
    input: string;
    /** Credits; the balance must allow them. */
    hold: string;
    /** Credits for the first model call, held if the run starts immediately and the balance allows it. */
    headroom: string;
    cap: string | null;
    cap_of: string | null;
    /** Seconds. */
    deadline: number;
    actor: string;
    /** JSON; absent without metadata. */
    metadata?: string;
    callback_url?: string;
    trace_parent?: string;
    /** Of a fork: what it takes over, as JSON for `take_over_rows`. */
    fork?: string;
    delivery: {
      id: string;
      received_at: string;
      headers: string;
      /** Base64. */
      body: string;
      sender: string | null;
      redelivery_of: string | null;
    } | null;
  };

export type EndItem = {
  run: string;
  org: OrgId;
  epoch: number;
  /** The run has no worker, so any process may end it. */
  unclaimed: boolean;
  status: EndedStatus;
  output: string | null;
  code: string | null;
  message: string | null;
  cancelled_by: string | null;
  input_tokens: number;
  output_tokens: number;
  actions: number;
  steps: number;
  credits: string;
  note: string;
  /** Refunds the charges of the run's ended children. */
  refund: boolean;
  sequence: number;
};

export type HoldItem = { run: string; org: OrgId; amount: string };

// `run+` also holds the headroom.
const VERDICTS = [
  "run",
  "run+",
  "wait",
  "rate",
  "credits",
  "suspended",
  "replay",
  "conflict",
  // Another process started a run with the same key at the same time: retry.
  "again",
  "reject",
] as const;

const flushAnswer = z.object({
  at: z.string(),
  starts: z.array(z.enum(VERDICTS)),
  rates: z.array(z.object({ key: z.string(), remaining: z.number(), reset: z.number() })).nullable(),
  replays: z.array(z.object({ i: z.number(), run: z.string(), response: z.string() })).nullable(),
  holds: z.array(z.enum(["held", "uncovered"])).nullable(),
  ended: z.array(z.object({ i: z.number() })).nullable(),
});
export type FlushAnswer = z.infer<typeof flushAnswer>;

/** The answer of `flush_writes`; null for a flush that needs none. */
export function readAnswer(text: string | null): FlushAnswer | null {
  return text ? flushAnswer.parse(JSON.parse(text)) : null;
}

export type StartVerdict = {
  verdict: (typeof VERDICTS)[number];
  at: Date;
  /** Null without a limit. */
  rate: { remaining: number; resetSeconds: number } | null;
  replay: { runId: string; response: string } | null;
};

export function readVerdict(answer: FlushAnswer, i: number, call: CountedCall): StartVerdict {
  const verdict = answer.starts[i];
  if (verdict === undefined) throw new Error(`the flush has no verdict ${i}`);
  const rate = answer.rates?.find(({ key }) => key === call.rate_key);
  const replay = verdict === "replay" ? answer.replays?.find((one) => one.i === i) : undefined;
  return {
    verdict,
    at: new Date(answer.at),
    rate: rate ? { remaining: rate.remaining, resetSeconds: rate.reset } : null,
    replay: replay ? { runId: replay.run, response: replay.response } : null,
  };
}
