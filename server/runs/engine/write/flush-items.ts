import { z } from "zod";
import type { OrgId } from "@/server/auth/actor";

/**
 * The input and output of `flush_writes`. Rows have the function's JSON column names; amounts are decimal strings,
 * hashes hexadecimal, times ISO 8601.
 */

/** The current state of a model call or step. */
export type JournalRow = { table: "model_calls"; value: ModelCallRow } | { table: "steps"; value: StepRow };

export type ModelCallRow = {
  id: string;
  org: OrgId;
  run: string;
  key: string;
  iteration: number;
  provider: string;
  model: string;
  status: "Running" | "Completed" | "Failed";
  content: string;
  /** JSON array. */
  tool_calls: string;
  finish_reason: string | null;
  input_tokens: number;
  output_tokens: number;
  estimated: boolean;
  credits: string;
  error: string | null;
  /** JSON array. */
  attempts: string;
  started_at: string;
  /** Milliseconds; null while it runs. */
  duration: number | null;
  sequence: number;
};

export type StepRow = {
  id: string;
  org: OrgId;
  run: string;
  key: string;
  number: number;
  iteration: number;
  tool: string;
  status: "Running" | "Completed" | "Failed";
  /** JSON text. */
  input: string;
  output: string | null;
  reasoning: string;
  input_tokens: number;
  output_tokens: number;
  actions: number;
  credits: string;
  error: string | null;
  attempts: string;
  child: string | null;
  started_at: string;
  duration: number | null;
  sequence: number;
};

/** A child run, on its root's slot and hold. */
export type ChildRow = {
  id: string;
  org: OrgId;
  kind: "agent" | "tool";
  agent: string | null;
  tool: string | null;
  name: string;
  version: number;
  model: string | null;
  hash: string;
  document: string;
  parent: string;
  root: string;
  input: string;
  cap: string | null;
  cap_of: string | null;
  deadline: number;
};

/** How a call counts against a rate limit; a null key is unlimited. */
export type RateItem = { rate_key: string | null; rate_limit: number; rate_seconds: number };

/** How a call may repeat an earlier one. */
export type RepetitionItem = {
  scope: string | null;
  idem: string | null;
  /** SHA-256 of what a repetition must have in common. */
  hash: string | null;
  /** A webhook's repetition is checked before its rate limit, an API call's after. */
  replay_first: boolean;
};

export type StartItem = RateItem &
  RepetitionItem & {
    id: string;
    org: OrgId;
    /** The response to repetitions. */
    response: string | null;
    kind: "agent" | "tool";
    agent: string | null;
    tool: string | null;
    name: string;
    version: number;
    model: string | null;
    /** SHA-256 of the frozen configuration. */
    configuration: string;
    /** The configuration itself, unless it is known to be stored. */
    document: string | null;
    source: "api" | "webhook" | "dashboard" | "operator";
    trigger: string | null;
    api_key: string | null;
    user: string | null;
    input: string;
    /** Credits to hold; the balance must allow them. */
    hold: string;
    /** Additional credits for the first model call, held if the run starts immediately and the balance allows it. */
    headroom: string;
    cap: string | null;
    cap_of: string | null;
    /** Seconds. */
    deadline: number;
    actor: string;
    delivery: DeliveryItem | null;
  };

export type DeliveryItem = {
  id: string;
  received_at: string;
  headers: string;
  /** Base64. */
  body: string;
  sender: string | null;
  redelivery_of: string | null;
};

/** A call that is refused for another reason: it still counts, and a rate limit or repetition takes precedence. */
export type RefusalItem = RateItem & RepetitionItem & { org: OrgId };

export type EndItem = {
  run: string;
  org: OrgId;
  epoch: number;
  /** The run has no worker, so any process may end it. */
  unclaimed: boolean;
  status: "Completed" | "Failed" | "Cancelled";
  output: string | null;
  code: string | null;
  message: string | null;
  cancelled_by: string | null;
  input_tokens: number;
  output_tokens: number;
  actions: number;
  steps: number;
  credits: string;
  /** Why the hold is released. */
  note: string;
  /** Whether to refund the charges of the run's ended children. */
  refund: boolean;
  sequence: number;
};

export type HoldItem = { run: string; org: OrgId; amount: string };

const rate = z.object({ key: z.string(), remaining: z.number(), reset: z.number() });
const replay = z.object({
  i: z.number(),
  run: z.string(),
  response: z.string(),
  same: z.boolean(),
});
export const flushAnswer = z.object({
  at: z.string(),
  /** Of starts and refused calls. */
  starts: z.array(
    z.enum(["run", "run+", "wait", "rate", "credits", "suspended", "replay", "conflict", "again", "refuse"]),
  ),
  rates: z.array(rate).nullable(),
  replays: z.array(replay).nullable(),
  holds: z.array(z.enum(["held", "uncovered"])).nullable(),
  ended: z.array(z.object({ i: z.number() })).nullable(),
});
export type FlushAnswer = z.infer<typeof flushAnswer>;

/** What remains of a rate limit after a call; null without a limit. */
export type RateLeft = { remaining: number; resetSeconds: number } | null;
export type Replay = { runId: string; response: string };

export type StartVerdict = { rate: RateLeft } & (
  | { verdict: "run"; at: Date; held: "hold" | "hold and headroom" }
  | { verdict: "wait"; at: Date }
  | { verdict: "rate" | "credits" | "suspended" | "conflict" }
  /** Another process started a run with the same key at the same time: retry. */
  | { verdict: "again" }
  | { verdict: "replay"; replay: Replay }
);
export type RefusalVerdict = { rate: RateLeft } & (
  | { verdict: "refuse" | "rate" | "conflict" }
  | { verdict: "replay"; replay: Replay }
);
export type EndVerdict = { ended: boolean; at: string };
export type HoldVerdict = "held" | "uncovered";

/** The verdict on start number `i` of a flush. */
export function readStart(answer: FlushAnswer, i: number, item: StartItem): StartVerdict {
  const left = rateLeft(answer, item);
  const verdict = answer.starts[i];
  switch (verdict) {
    case "run":
    case "run+":
      return {
        verdict: "run",
        at: new Date(answer.at),
        held: verdict === "run" ? "hold" : "hold and headroom",
        rate: left,
      };
    case "wait":
      return { verdict, at: new Date(answer.at), rate: left };
    case "replay":
      return { verdict, replay: findReplay(answer, i), rate: left };
    case "refuse":
    case undefined:
      throw new Error(`the flush has no verdict ${i}`);
    default:
      return { verdict, rate: left };
  }
}

/** The verdict on the refused call that is number `i` of a flush. */
export function readRefusal(answer: FlushAnswer, i: number, item: RefusalItem): RefusalVerdict {
  const left = rateLeft(answer, item);
  const verdict = answer.starts[i];
  if (verdict === "replay") return { verdict, replay: findReplay(answer, i), rate: left };
  if (verdict === "refuse" || verdict === "rate" || verdict === "conflict") return { verdict, rate: left };
  throw new Error(`the flush has no verdict ${i}`);
}

function rateLeft(answer: FlushAnswer, item: RateItem): RateLeft {
  const found = answer.rates?.find(({ key }) => key === item.rate_key);
  return found === undefined ? null : { remaining: found.remaining, resetSeconds: found.reset };
}

function findReplay(answer: FlushAnswer, i: number): Replay {
  const found = answer.replays?.find((one) => one.i === i);
  if (found === undefined) throw new Error(`the flush has no repetition for ${i}`);
  return { runId: found.run, response: found.response };
}
