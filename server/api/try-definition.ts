import type { MemberActor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { refusal } from "@/server/base/issues";
import { requireRole } from "@/server/catalog/change";
import type { AgentDefinition } from "@/server/catalog/definitions";
import { readCheckedTool } from "@/server/catalog/edit-definition";
import { resolveSlugs } from "@/server/catalog/resolve-slugs";
import { findAgentFaults } from "@/server/catalog/save-agent";
import { findTarget } from "@/server/runs/find-target";
import { startFromDashboard } from "@/server/runs/rerun";
import type { Services } from "@/server/services";
import { policyOf } from "@/server/work/agent/definition";
import { toolNameForModel } from "@/server/work/agent/prompts";
import type { WorkflowDefinition } from "@/server/work/workflow/definition";

/**
 * Starts a run of a saved agent with an unsaved definition, also if the agent is inactive. Needs the role member. Throws
 * `invalid_request` with the definition's faults, and the errors of `startFromDashboard`.
 */
export async function tryAgent(
  services: Services,
  actor: MemberActor,
  { agentId, definition, message }: { agentId: string; definition: AgentDefinition; message: string },
): Promise<{ runId: string }> {
  requireRole(actor, "member");
  const { model, systemPrompt, maxSteps, outputSchema, policies, deadlineSeconds, maxCredits } = definition;
  const tools = await findAttachedTools(services, actor, definition.tools);
  const unknown = await resolveSlugs({ tx: services.db, actor }, "tool", definition.tools);
  const faults = await findAgentFaults(definition, unknown.faults, actor.orgId);
  if (faults.length > 0) throw refusal(faults);
  const draft = {
    model,
    systemPrompt,
    maxSteps,
    outputSchema,
    deadlineSeconds,
    maxCredits: maxCredits === null ? null : new Decimal(maxCredits),
    callables: [
      ...definition.functions.map((name) => {
        return { kind: "function" as const, name, policy: policyOf(policies, name) };
      }),
      ...definition.tools.flatMap((slug) => {
        const tool = tools.get(slug);
        return tool ? { ...tool, policy: policyOf(policies, slug) } : [];
      }),
    ],
  };
  return startFromDashboard(services, actor, { kind: "agent", id: agentId, input: message, draft });
}

/** The tools of these slugs as an agent's run freezes them, by slug. */
async function findAttachedTools(services: Services, { orgId }: MemberActor, slugs: readonly string[]) {
  const found = await services.db.tool.findMany({
    where: { organizationId: orgId, slug: { in: [...slugs] }, deletedAt: null },
    select: { id: true, slug: true, description: true },
  });
  const attached = await Promise.all(
    found.map(async ({ id, slug, description }) => {
      const target = await findTarget(services, orgId, { kind: "tool", id });
      if (target?.kind !== "tool") return [];
      const callable = {
        kind: "tool" as const,
        name: toolNameForModel(slug),
        toolId: id,
        version: target.version,
        title: target.name,
        description,
        definition: target.configuration.definition,
        deadlineSeconds: target.deadlineSeconds,
        maxCredits: target.maxCredits?.toFixed() ?? null,
      };
      return [[slug, callable] as const];
    }),
  );
  return new Map(attached.flat());
}

/**
 * Starts a run of a saved tool with an unsaved definition. `until` is the id of the last step to execute; the run's
 * output is then that step's. Needs the role member. Throws `invalid_request` with the definition's faults by line, and
 * the errors of `startFromDashboard`.
 */
export async function tryTool(
  services: Services,
  actor: MemberActor,
  { toolId, yaml, input, until }: { toolId: string; yaml: string; input: string; until: string | null },
): Promise<{ runId: string }> {
  requireRole(actor, "member");
  const definition = await readCheckedTool(services, actor, yaml);
  const { slug, name, description, maxCredits, deadlineSeconds, ...workflow } = definition;
  const draft = {
    maxCredits: maxCredits === null ? null : new Decimal(maxCredits),
    deadlineSeconds,
    definition: until === null ? workflow : cut(workflow, until),
  };
  return startFromDashboard(services, actor, { kind: "tool", id: toolId, input, draft });
}

/** A workflow that ends after a step, with that step's output. */
function cut({ parameters, steps }: WorkflowDefinition, until: string): WorkflowDefinition {
  const last = steps.findIndex(({ id }) => id === until);
  if (last < 0) throw refusal([{ path: "", message: `There is no step "${until}".` }]);
  return { parameters, steps: steps.slice(0, last + 1) };
}
