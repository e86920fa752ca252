import type { MemberActor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { rejection } from "@/server/base/issues";
import { type Json, type JsonObject, objectOf } from "@/server/base/json/json";
import { requireRole } from "@/server/catalog/change";
import type { AgentDefinition } from "@/server/catalog/definitions";
import { readCheckedTool } from "@/server/catalog/edit-definition";
import { findAgentIssues } from "@/server/catalog/save-agent";
import { readStepOutputs } from "@/server/runs/read/step-outputs";
import { startFromDashboard } from "@/server/runs/rerun";
import type { Services } from "@/server/services";
import type { WorkflowDefinition } from "@/server/work/workflow/definition";
import { findNamesOfStep, textsOf } from "@/server/work/workflow/step-names";

/**
 * Runs a saved agent, also an inactive one, with an unsaved definition. Needs the role member. Throws
 * `invalid_request` with the definition's issues, and the errors of `startFromDashboard`.
 */
export async function tryAgent(
  services: Services,
  actor: MemberActor,
  { agentId, definition, message }: { agentId: string; definition: AgentDefinition; message: string },
): Promise<{ runId: string }> {
  requireRole(actor, "member");
  const issues = await findAgentIssues(definition, { tx: services.db, actor });
  if (issues.length > 0) throw rejection(issues);
  const { slug, name, status, maxCredits, deadlineSeconds, ...settings } = definition;
  const limits = { maxCredits: maxCredits === null ? null : new Decimal(maxCredits), deadlineSeconds };
  const draft = { kind: "agent" as const, settings, ...limits };
  return startFromDashboard(services, actor, { kind: "agent", id: agentId, input: message, draft });
}

/**
 * Runs a saved tool with an unsaved definition. `until`: the id of the last step, whose output is the run's.
 * `pinnedFrom`: executes only that step, with the earlier steps' outputs in this run. Needs the role member. Throws
 * `invalid_request` with issues by line, and the errors of `startFromDashboard`.
 */
export async function tryTool(
  services: Services,
  actor: MemberActor,
  { toolId, yaml, input, until, pinnedFrom = null }: TriedTool,
): Promise<{ runId: string }> {
  requireRole(actor, "member");
  const definition = await readCheckedTool(services, actor, yaml);
  const { slug, name, description, maxCredits, deadlineSeconds, ...workflow } = definition;
  const tried = until === null ? workflow : cut(workflow, until);
  const pinned =
    pinnedFrom === null ? undefined : await pin(services, actor, { ...tried, runId: pinnedFrom });
  const draft = {
    kind: "tool" as const,
    pinned,
    maxCredits: maxCredits === null ? null : new Decimal(maxCredits),
    deadlineSeconds,
    definition: tried,
  };
  return startFromDashboard(services, actor, { kind: "tool", id: toolId, input, draft });
}

type TriedTool = {
  toolId: string;
  yaml: string;
  input: string;
  until: string | null;
  pinnedFrom?: string | null;
};

const INSTEAD = "Run up to the step instead.";

/** An unknown output is null if the last step does not read it; otherwise throws. */
async function pin(
  services: Services,
  actor: MemberActor,
  { steps, runId }: Pick<WorkflowDefinition, "steps"> & { runId: string },
): Promise<JsonObject> {
  const outputs = await readStepOutputs(services, actor, { runId });
  const texts = [...textsOf({ steps: steps.slice(-1) })];
  const pinned: [string, Json][] = [];
  for (const { id, parallel = [] } of steps.slice(0, -1)) {
    const output = outputs.get(id);
    const ids = output === undefined ? [id, ...parallel.map((inner) => inner.id)] : [];
    for (const step of ids)
      for (const { text, isCondition } of texts) {
        const names = await findNamesOfStep(text, { step, isCondition, organizationId: actor.orgId });
        if (names.length > 0)
          throw rejection([
            { path: "", message: `No output of "${step}" is known, or it is too large. ${INSTEAD}` },
          ]);
      }
    pinned.push([id, output ?? null]);
  }
  return objectOf(pinned);
}

function cut({ parameters, steps }: WorkflowDefinition, until: string): WorkflowDefinition {
  const last = steps.findIndex(({ id }) => id === until);
  if (last < 0) throw rejection([{ path: "", message: `There is no step "${until}".` }]);
  return { parameters, steps: steps.slice(0, last + 1) };
}
