import { parseFunctionInput } from "@/server/functions/execute";
import { FunctionError } from "@/server/functions/function-error";
import { runAgent } from "@/server/functions/run-agent";
import { runTool } from "@/server/functions/run-tool";
import type { Json } from "@/server/json/json";
import { stringifyLarge } from "@/server/json/large";
import { validateAgainst } from "@/server/json/schema";
import { describeIssues } from "@/server/json/schema-issues";
import { DeadlinePassed, type Execution } from "@/server/runs/engine/execute/execution";
import type { BegunStep, FinishedStep } from "@/server/runs/engine/write/journal";
import { findTargetBySlug } from "@/server/runs/find-target";
import type { Target } from "@/server/runs/target";
import { replaceNul } from "@/server/secrets/stored-output";
import { LONGEST_TIMER_MS } from "@/server/sleep";
import {
  type ActionOutcome,
  type Failure,
  failureOf,
  isRetried,
  payForAction,
  recordAttempt,
  storedOutput,
  waitForRetry,
} from "./action";
import type { FunctionCall } from "./call-function";
import { type ChildResult, type ChildTarget, executeChildRun } from "./child-run";
import { childRunId } from "./child-run-id";

type Started = { target: ChildTarget; input: string };

/** Runs the tool or agent that a step names, as a child run. */
export function callRun(
  execution: Execution,
  { call, kind }: { call: FunctionCall; kind: "tool" | "agent" },
  begun: BegunStep,
): Promise<FinishedStep> {
  return performChildStep(execution, begun, {
    call,
    find: () => (kind === "tool" ? findTool(execution, call.input) : findAgent(execution, call.input)),
    ...(kind === "agent" && { toOutput: (answer: Json) => ({ output: answer }) }),
  });
}

type ChildCall = {
  call: Pick<FunctionCall, "key" | "retries" | "reader" | "timeoutMs">;
  /** What to run, with its input. Throws FunctionError. */
  find(): Promise<Started>;
  /** The step's output, made of the child's. */
  toOutput?(output: Json): Json;
};

/** Executes a step that is a child run, and pays one action. Each attempt is a run of its own. */
export function performChildStep(
  execution: Execution,
  begun: BegunStep,
  child: ChildCall,
): Promise<FinishedStep> {
  return payForAction(execution, begun, {
    reader: child.call.reader,
    work: () => attemptRun(execution, begun, child),
  });
}

async function attemptRun(
  execution: Execution,
  begun: BegunStep,
  { call, find, toOutput = (output) => output }: ChildCall,
): Promise<ActionOutcome> {
  const { services, run, signal } = execution;
  // A worker that took the run over reads how the earlier attempts ended; they are recorded already.
  const known = begun.attempts.filter(({ retryAt }) => retryAt !== undefined).length;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = services.clock.now();
    let failure: Failure;
    try {
      const started = await find();
      const id = childRunId(run.id, attempt === 1 ? call.key : `${call.key}/attempt-${attempt}`);
      begun.row.child = id;
      const ended = await withinTime(execution, begun, { call, child: { id, ...started } });
      if (ended.status === "Completed") {
        const stored = await storedOutput(toOutput(ended.output), call.reader);
        recordAttempt(execution, begun, { startedAt, error: "error" in stored ? stored.error : null });
        return stored;
      }
      signal.throwIfAborted();
      failure = { error: ended.message, code: ended.code };
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      failure = failureOf(error, execution.secrets.redact);
    }
    const ended = { startedAt, error: failure.error };
    if (!isRetried(call.retries, attempt, failure)) {
      recordAttempt(execution, begun, ended);
      return failure;
    }
    if (attempt > known) await waitForRetry(execution, begun, { ...ended, retries: call.retries, attempt });
  }
}

/** Executes the child within the step's time limit, which counts from the step's beginning. */
async function withinTime(
  execution: Execution,
  begun: BegunStep,
  { call, child }: { call: ChildCall["call"]; child: Started & { id: string } },
): Promise<ChildResult> {
  const { services, signal } = execution;
  if (call.timeoutMs === undefined) return executeChildRun(execution, child);
  const { timeoutMs } = call;
  const timeout = new AbortController();
  const left = begun.startedAt + timeoutMs - services.clock.now().getTime();
  const stop = () => timeout.abort(new DeadlinePassed(`The step took longer than ${timeoutMs} ms.`));
  if (left <= 0) stop();
  const timer = setTimeout(stop, Math.min(left, LONGEST_TIMER_MS));
  try {
    const ended = await executeChildRun(execution, child, AbortSignal.any([signal, timeout.signal]));
    return ended.status === "Failed" && timeout.signal.aborted ? { ...ended, code: "timeout" } : ended;
  } finally {
    clearTimeout(timer);
  }
}

async function findTool({ services, run }: Execution, input: Json): Promise<Started> {
  const { tool: slug, input: given = {} } = parseFunctionInput(runTool, input);
  const target = await findTargetBySlug(services, run.orgId, { kind: "tool", slug });
  if ("known" in target || target.kind !== "tool") throw unknown("tool", slug, target);
  const { definition } = target.configuration;
  const issues = await validateAgainst(definition.parameters, given, run.orgId);
  if (issues.length > 0) {
    const message = `The input does not match the parameters of "${slug}": ${describeIssues(issues)}`;
    throw new FunctionError("invalid_arguments", message);
  }
  const { id, version, configuration, deadlineSeconds } = target;
  const maxCredits = target.maxCredits?.toFixed(4) ?? null;
  return {
    target: { targetId: id, version, configuration, deadlineSeconds, maxCredits },
    input: await stringifyLarge(given),
  };
}

async function findAgent({ services, run }: Execution, input: Json): Promise<Started> {
  const { agent: slug, message } = parseFunctionInput(runAgent, input);
  const target = await findTargetBySlug(services, run.orgId, { kind: "agent", slug });
  if ("known" in target || target.kind !== "agent") throw unknown("agent", slug, target);
  if (!target.active) throw new FunctionError("agent_inactive", `The agent "${slug}" is inactive.`);
  const { id, version, deadlineSeconds } = target;
  // What a webhook sent may be in the message.
  const messageFromOutside = run.fromOutside;
  const configuration = { ...target.configuration, messageFromOutside };
  const maxCredits = target.maxCredits?.toFixed(4) ?? null;
  return {
    target: { targetId: id, version, configuration, deadlineSeconds, maxCredits },
    input: replaceNul(message),
  };
}

function unknown(kind: "tool" | "agent", slug: string, found: Target | { known: string }): FunctionError {
  const known = "known" in found ? ` ${found.known}.` : "";
  return new FunctionError(`unknown_${kind}`, `There is no ${kind} "${slug}".${known}`);
}
