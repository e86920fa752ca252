import { z } from "zod";
import { Decimal } from "@/server/base/amount";
import { defineQuery } from "@/server/base/db/statement";
import { type Json, writeJson } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import { abortAfter, LimitReached, YieldSlot } from "@/server/runs/engine/interruptions";
import { findKnownTargets, findTarget } from "@/server/runs/find-target";
import type { Target } from "@/server/runs/target";
import { type AttachedCallable, isFromOutside } from "@/server/work/agent/definition";
import { FunctionError } from "@/server/work/functions/core/define";
import { parseFunctionInput } from "@/server/work/functions/core/execute";
import { runAgent } from "@/server/work/functions/run-agent";
import { runTool } from "@/server/work/functions/run-tool";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { describeIssues } from "@/server/work/json-schema/schema-issues";
import { calledRunId } from "../../called-run";
import type { StartedStep } from "../../write/journal";
import type { FinishedStep } from "../../write/journal-contents";
import type { Execution } from "../execution";
import { type Child, type ChildCall, type ChildResult, executeChildRun } from "./child-run";
import { performStep, type StepCall, storedOutput } from "./perform-step";

export function callRun(execution: Execution, call: StepCall, kind: "tool" | "agent"): Promise<FinishedStep> {
  const find = kind === "tool" ? findTool : findAgent;
  const toOutput = (output: Json) => (kind === "tool" ? output : { output });
  return callChild(execution, call, { find: () => find(execution, call.args), toOutput });
}

/** Executes a tool that an agent called, as a child run. To the agent it is one step and one action. */
export function callTool(
  execution: Execution,
  call: StepCall,
  attached: Extract<AttachedCallable, { kind: "tool" }>,
): Promise<FinishedStep> {
  const { toolId: id, version, title, definition, deadlineSeconds, maxCredits } = attached;
  const target = {
    id,
    version,
    configuration: { kind: "tool" as const, name: title, definition, ...inputFacts(execution) },
    deadlineSeconds,
    maxCredits: maxCredits === null ? null : new Decimal(maxCredits),
  };
  const find = async () => ({ target, input: writeJson(call.args) });
  return callChild(execution, call, { find, toOutput: (output) => output });
}

function callChild(
  execution: Execution,
  call: StepCall,
  {
    find,
    toOutput,
  }: {
    /** Throws FunctionError. */
    find(): Promise<Child>;
    toOutput(output: Json): Json;
  },
): Promise<FinishedStep> {
  return performStep(execution, call, {
    hasSideEffects: true,
    repeatsAttempts: true,
    async attempt(started, { number }) {
      const id = calledRunId(execution.run.id, call.key, number);
      const link = () => {
        started.row.child_run_id = id;
        // The row on the page leads to the failed run until then.
        if (number > 1) execution.journal.showProgress(started);
      };
      const child = { id, find, link };
      // Recorded, because a worker that takes over makes the attempts again.
      const retryAt = started.attempts.flatMap((earlier) => earlier.retryAt ?? [])[number - 2];
      const beganAt = retryAt === undefined ? started.startedAt : Date.parse(retryAt);
      const ended = await withinTime(execution, child, { ...call, started, beganAt });
      if (ended.status === "Completed") return storedOutput(execution.run.kind, toOutput(ended.output));
      execution.signal.throwIfAborted();
      throw new FunctionError(ended.code, ended.message);
    },
  });
}

/** The time limit counts from the beginning of the attempt. */
async function withinTime(
  execution: Execution,
  child: ChildCall,
  { timeoutMs, started, beganAt }: Pick<StepCall, "timeoutMs"> & { started: StartedStep; beganAt: number },
): Promise<ChildResult> {
  if (timeoutMs === undefined) return executeChildRun(execution, child);
  const { services, signal } = execution;
  const timeout = new AbortController();
  const limit = new Date(beganAt + timeoutMs);
  const left = limit.getTime() - services.clock.now().getTime();
  const reason = () => new LimitReached("deadline_exceeded", `The step took longer than ${timeoutMs} ms.`);
  const unwatch = abortAfter(left, timeout, reason);
  try {
    const ended = await executeChildRun(execution, child, AbortSignal.any([signal, timeout.signal]));
    return ended.status === "Failed" && timeout.signal.aborted ? { ...ended, code: "timeout" } : ended;
  } catch (error) {
    if (!(error instanceof YieldSlot)) throw error;
    // The next worker reads in the row when the step began.
    execution.journal.showProgress(started);
    throw error.atMost(limit);
  } finally {
    unwatch();
  }
}

async function findTool(execution: Execution, args: Json): Promise<Child> {
  const { tool: slug, input = {} } = parseFunctionInput(runTool, args);
  const target = await findBySlug(execution, "tool", slug);
  const { definition } = target.configuration;
  const issues = await validateAgainst(definition.parameters, input, execution.run.orgId);
  if (issues.length > 0) {
    const message = `The input does not match the parameters of "${slug}": ${describeIssues(issues)}`;
    throw new FunctionError("invalid_arguments", message);
  }
  const configuration = { ...target.configuration, ...inputFacts(execution) };
  return { target: { ...target, configuration }, input: await stringifyLarge(input) };
}

// What a webhook sent may be in the input.
const inputFacts = ({ run }: Execution) => (isFromOutside(run.configuration) ? { fromOutside: true } : {});

async function findAgent(execution: Execution, args: Json): Promise<Child> {
  const { agent: slug, message } = parseFunctionInput(runAgent, args);
  const target = await findBySlug(execution, "agent", slug);
  if (!target.active) throw new FunctionError("agent_inactive", `The agent "${slug}" is inactive.`);
  const messageFromOutside = isFromOutside(execution.run.configuration);
  const configuration = { ...target.configuration, messageFromOutside };
  return { target: { ...target, configuration }, input: replaceNul(message) };
}

const defineFindBySlug = (kind: Target["kind"]) =>
  defineQuery(
    `find-${kind}-by-slug`,
    z.object({ id: z.string() }),
    `SELECT id FROM ${kind}s WHERE organization_id = $1 AND slug = $2 AND deleted_at IS NULL`,
  );
const FIND_BY_SLUG = { agent: defineFindBySlug("agent"), tool: defineFindBySlug("tool") };

/** Throws a FunctionError that names the existing ones. */
async function findBySlug<Kind extends Target["kind"]>(
  { services, run }: Execution,
  kind: Kind,
  slug: string,
): Promise<Extract<Target, { kind: Kind }>> {
  const [found] = await FIND_BY_SLUG[kind](services.pool, [run.orgId, slug]);
  const target = found ? await findTarget(services, run.orgId, { kind, id: found.id }) : null;
  if (target) return target;
  const known = await findKnownTargets(services.pool, run.orgId, { kind });
  throw new FunctionError(`unknown_${kind}`, `There is no ${kind} "${slug}". ${known.description}.`);
}
