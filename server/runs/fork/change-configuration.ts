import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import type { Issue } from "@/server/base/errors";
import { readJson, writeJson } from "@/server/base/json/json";
import { formatLimit, MAX_STEP_OUTPUT_BYTES, MAX_USER_MESSAGE_BYTES } from "@/server/contract/sizes";
import { findSecretNames } from "@/server/guard/secrets/references";
import type { Services } from "@/server/runs/services";
import type { AgentConfiguration, RunConfiguration, ToolConfiguration } from "@/server/work/agent/definition";
import { findForeignSecret } from "@/server/work/workflow/changed-input";
import {
  type WorkflowDefinition,
  type WorkflowStep,
  workflowDefinition,
} from "@/server/work/workflow/definition";
import type { PastRun } from "@/server/work/workflow/past-run";
import type { ForkChanges, ForkRequest } from "./changes";
import type { Cut } from "./cut";
import type { Origin } from "./read-origin";

type Changed = { configuration: RunConfiguration; version: number } | { issue: Issue };
type Of<Configuration> = Omit<Origin, "configuration"> & { configuration: Configuration };

const issueAt = (change: keyof ForkChanges, message: string) => ({
  issue: { path: `/changes/${change}`, message },
});

/** The first issue of the changes, without those of a tool's version. */
export function findChangeIssue(
  { configuration }: Pick<Origin, "configuration">,
  cut: Cut,
  changes: ForkChanges,
): Issue | null {
  const { systemPrompt, userMessage, input, output, toolVersion } = changes;
  const ofAgent = (["systemPrompt", "model", "userMessage"] as const).find(
    (each) => changes[each] !== undefined,
  );
  if (configuration.kind === "tool" && ofAgent !== undefined) {
    return issueAt(ofAgent, "is not a setting of tools. The run is one of a tool").issue;
  }
  if (systemPrompt !== undefined && findSecretNames(systemPrompt).length > 0) {
    return issueAt("systemPrompt", "cannot refer to secrets: models never see them").issue;
  }
  if (userMessage !== undefined && Buffer.byteLength(userMessage) > MAX_USER_MESSAGE_BYTES) {
    return issueAt("userMessage", `must have at most ${formatLimit(MAX_USER_MESSAGE_BYTES)}`).issue;
  }
  if (input !== undefined && output !== undefined) {
    return issueAt("input", "has no effect beside output: the step is not executed").issue;
  }
  const ofStep = input === undefined ? "output" : "input";
  if ((input ?? output) !== undefined && (cut.named === undefined || cut.named.status === "Skipped")) {
    return issueAt(ofStep, "needs a step that was executed").issue;
  }
  if (output !== undefined && Buffer.byteLength(writeJson(output)) > MAX_STEP_OUTPUT_BYTES) {
    return issueAt("output", `must have at most ${formatLimit(MAX_STEP_OUTPUT_BYTES)}`).issue;
  }
  if (
    toolVersion !== undefined &&
    configuration.kind === "agent" &&
    attachedTool(configuration, cut) === undefined
  ) {
    return issueAt("toolVersion", "needs a step that calls a tool").issue;
  }
  return null;
}

/** The configuration of a fork: its origin's frozen one with the changes. */
export async function changeConfiguration(
  services: Pick<Services, "pool">,
  orgId: OrgId,
  { origin, cut, request }: { origin: Origin; cut: Cut; request: ForkRequest },
): Promise<Changed> {
  const { configuration } = origin;
  return configuration.kind === "agent"
    ? changeAgent(services, orgId, { origin: { ...origin, configuration }, cut, request })
    : changeTool(services, orgId, { origin: { ...origin, configuration }, cut, request });
}

async function changeAgent(
  services: Pick<Services, "pool">,
  orgId: OrgId,
  {
    origin,
    cut,
    request: { changes, tools },
  }: { origin: Of<AgentConfiguration>; cut: Cut; request: ForkRequest },
): Promise<Changed> {
  const { id: runId, version, configuration } = origin;
  const { systemPrompt = configuration.systemPrompt, model = configuration.model, toolVersion } = changes;
  const fallbackModels = configuration.fallbackModels?.filter((each) => each !== model);
  let { callables } = configuration;
  const tool = attachedTool(configuration, cut);
  if (toolVersion !== undefined && tool !== undefined) {
    const definition = await readVersion(services, orgId, { toolId: tool.toolId, number: toolVersion });
    if (definition === null) return issueAt("toolVersion", unknownVersion(toolVersion));
    callables = callables.map((each) =>
      each === tool ? { ...tool, version: toolVersion, definition } : each,
    );
  }
  return {
    version,
    configuration: {
      ...configuration,
      systemPrompt,
      model,
      callables,
      ...(fallbackModels === undefined ? {} : { fallbackModels }),
      fork: { runId, tools },
    },
  };
}

async function changeTool(
  services: Pick<Services, "pool">,
  orgId: OrgId,
  {
    origin,
    cut,
    request: { changes, tools },
  }: { origin: Of<ToolConfiguration>; cut: Cut; request: ForkRequest },
): Promise<Changed> {
  const { id: runId, configuration } = origin;
  const { toolVersion, input } = changes;
  let { definition } = configuration;
  if (toolVersion !== undefined) {
    const changed = await readVersion(services, orgId, { toolId: origin.targetId, number: toolVersion });
    if (changed === null) return issueAt("toolVersion", unknownVersion(toolVersion));
    const difference = findEarlierDifference(definition, changed, cut.stepId);
    if (difference !== null) return issueAt("toolVersion", difference);
    definition = changed;
  }
  const takenOver = new Set(cut.steps.map((step) => step.key));
  const earlier = Object.entries(configuration.fork?.inputs ?? {}).filter(([key]) => !takenOver.has(key));
  const own = input === undefined || cut.named === undefined ? [] : [[cut.named.key, input] as const];
  const inputs = Object.fromEntries([...earlier, ...own]);
  for (const [key, value] of Object.entries(inputs)) {
    const foreign = findForeignSecret({ definition, key, input: value });
    if (foreign === undefined) continue;
    const { field, name } = foreign;
    return issueAt("input", `refers to the secret "${name}", which step "${key}" does not use in "${field}"`);
  }
  return {
    version: toolVersion ?? origin.version,
    configuration: {
      ...configuration,
      definition,
      fork: {
        runId,
        tools,
        past: pastOf(origin, tools === "recorded" ? null : (cut.stepId ?? AT_OUTPUT)),
        inputs,
      },
    },
  };
}

// Behind the last step, where only the output is evaluated.
const AT_OUTPUT = "";

/**
 * Expressions of what is taken over see the run that it comes from. Under `recorded` all do: otherwise a call with
 * `run.id` or `$now()` in its arguments would never be in the record.
 */
function pastOf({ id, startedAt, configuration }: Of<ToolConfiguration>, until: string | null): PastRun[] {
  const own = { until: null, id, startedAt: (startedAt ?? new Date(0)).toISOString() };
  const whole = [...(configuration.fork?.past ?? []), own];
  // A recorded fork sees no other facts than its origin did.
  const seen = whole.slice(0, whole.findIndex((past) => past.until === null) + 1);
  if (until === null) return seen;
  const { steps } = configuration.definition;
  const positionOf = (step: string | null) => steps.findIndex((each) => each.id === step);
  const isEarlier = ({ until: end }: PastRun) =>
    end !== null && end !== AT_OUTPUT && (until === AT_OUTPUT || positionOf(end) < positionOf(until));
  const first = seen.findIndex((past) => !isEarlier(past));
  const cutOff = seen[first];
  return cutOff === undefined ? seen : [...seen.slice(0, first), { ...cutOff, until }];
}

function attachedTool({ callables }: AgentConfiguration, { named }: Cut) {
  return callables.filter((each) => each.kind === "tool").find(({ name }) => name === named?.name);
}

// The steps before the cut must be the same: they are taken over.
function findEarlierDifference(
  { steps: before }: WorkflowDefinition,
  { steps: after }: WorkflowDefinition,
  cutId: string | undefined,
): string | null {
  const callsUntil = (steps: WorkflowDefinition["steps"]) => {
    const index = cutId === undefined ? steps.length : steps.findIndex(({ id }) => id === cutId);
    return index < 0 ? null : steps.slice(0, index).map(callsOf);
  };
  const wanted = callsUntil(after);
  if (wanted === null) return `has no step "${cutId}", where the fork would begin`;
  return isDeepStrictEqual(callsUntil(before) ?? [], wanted)
    ? null
    : "has other steps before the one where the fork begins";
}

// Decides which calls a step makes. How they are repeated or run side by side does not matter.
function callsOf({ id, uses, with: input, if: condition, forEach, as, parallel }: WorkflowStep): unknown {
  return { id, uses, input, condition, forEach, as, parallel: parallel?.map(callsOf) };
}

const unknownVersion = (number: number) => `must be a version of the tool. There is no version ${number}`;

const READ_VERSION = defineQuery(
  "read-fork-tool-version",
  z.object({ definition: z.string() }),
  `SELECT v.definition FROM tool_versions v JOIN tools t ON t.id = v.tool_id
   WHERE t.id = $1 AND t.organization_id = $2 AND v.number = $3`,
);

async function readVersion(
  { pool }: Pick<Services, "pool">,
  orgId: OrgId,
  { toolId, number }: { toolId: string; number: number },
): Promise<WorkflowDefinition | null> {
  const [row] = await READ_VERSION(pool, [toolId, orgId, number]);
  return row ? workflowDefinition.parse(readJson(row.definition)) : null;
}
