import type { MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { readJson, writeJson } from "@/server/base/json/json";
import { findTarget } from "@/server/runs/find-target";
import type { Services } from "@/server/runs/services";
import { type RunConfiguration, runConfiguration } from "@/server/work/agent/definition";
import {
  compareFields,
  type FieldChange,
  type Fields,
  settingsFields,
  workflowFields,
} from "@/server/work/agent/field-changes";
import { toolSlugOf } from "@/server/work/agent/prompts";

/**
 * A run's frozen configuration compared with the current one, including the versions of attached tools. Throws
 * not_found.
 */
export async function inspectConfiguration(services: Services, actor: MemberActor, runId: string) {
  const run = await readFrozen(services, actor, runId);
  const target = await findTarget(services, actor.orgId, { kind: run.kind, id: run.targetId });
  // Null if the agent or tool was deleted.
  const now = target && {
    version: target.version,
    changes: compareFields(
      run.fields,
      fieldsOf(
        target.kind === "agent"
          ? { ...target.configuration, messageFromOutside: run.messageFromOutside }
          : target.configuration,
        target.deadlineSeconds,
      ),
    ),
  };
  // Field by field, as text; multi-line texts are JSON or prompts.
  return { fields: [...run.fields].map(([field, value]) => ({ field, value })), now };
}

/** The differences of run `b`'s configuration from run `a`'s. Throws not_found. */
export async function compareConfigurations(
  services: Pick<Services, "db">,
  actor: MemberActor,
  { a, b }: { a: string; b: string },
): Promise<FieldChange[]> {
  const [left, right] = await Promise.all([readFrozen(services, actor, a), readFrozen(services, actor, b)]);
  return compareFields(left.fields, right.fields);
}

/**
 * The part of a run's frozen configuration that a step executes: a tool's step, with its group, or what an agent may
 * call. Null if there is none, such as for an unknown function. Throws not_found.
 */
export async function readStepDefinition(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { runId, stepId }: { runId: string; stepId: string },
): Promise<object | null> {
  const step = await db.step.findFirst({
    where: { id: stepId, runId, organizationId: actor.orgId },
    select: { key: true, toolName: true, run: { select: { configuration: { select: { document: true } } } } },
  });
  if (!step) throw new AppError("not_found", `There is no step ${stepId} in run ${runId}.`);
  const configuration = runConfiguration.parse(readJson(step.run.configuration.document));
  if (configuration.kind === "agent") {
    const called = configuration.callables.find(({ name }) => name === step.toolName);
    if (called === undefined) return null;
    const { kind, name, policy } = called;
    return kind === "tool"
      ? { tool: toolSlugOf(name), version: called.version, policy }
      : { function: name, policy };
  }
  // An item of forEach has its number behind the id.
  const id = step.key.replace(/\[\d+\]$/, "");
  for (const each of configuration.definition.steps) {
    if (each.id === id) return each;
    const member = each.parallel?.find((inner) => inner.id === id);
    if (member !== undefined) return { ...each, parallel: [member] };
  }
  return null;
}

async function readFrozen({ db }: Pick<Services, "db">, actor: MemberActor, runId: string) {
  const run = await db.run.findFirst({
    where: { id: runId, organizationId: actor.orgId },
    select: {
      kind: true,
      agentId: true,
      toolId: true,
      deadlineSeconds: true,
      configuration: { select: { document: true } },
    },
  });
  const targetId = run?.agentId ?? run?.toolId;
  if (!run || !targetId) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  const configuration = runConfiguration.parse(readJson(run.configuration.document));
  return {
    kind: run.kind,
    targetId,
    messageFromOutside: configuration.kind === "agent" && configuration.messageFromOutside,
    fields: fieldsOf(configuration, run.deadlineSeconds),
  };
}

function fieldsOf(configuration: RunConfiguration, deadlineSeconds: number): Fields {
  const deadline: [string, string] = ["deadline", `${deadlineSeconds} s`];
  if (configuration.kind === "tool") {
    return new Map([...workflowFields(configuration.definition), deadline]);
  }
  const { kind, name: title, callables, messageFromOutside, fork, ...settings } = configuration;
  const functions = callables.filter((callable) => callable.kind === "function");
  const tools = callables
    .filter((callable) => callable.kind === "tool")
    .map((tool) => ({ ...tool, name: toolSlugOf(tool.name) }));
  const policies = [...functions, ...tools].flatMap(({ name, policy }) => (policy ? [[name, policy]] : []));
  const attached = {
    functions: functions.map(({ name }) => name),
    tools: tools.map(({ name, version }) => `${name} v${version}`),
    policies: Object.fromEntries(policies),
  };
  return new Map([
    ...settingsFields({ ...settings, ...attached }),
    ...(messageFromOutside
      ? [["message", "Comes from outside. The prompt marks it as data from outside."] as const]
      : []),
    ...tools.map(
      ({ name, description, definition }) =>
        [`tool ${name}`, writeJson({ description, ...definition }, 2)] as const,
    ),
    deadline,
  ]);
}
