import type { MemberActor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { rejection } from "@/server/base/issues";
import { type Json, type JsonObject, objectOf, writeJson } from "@/server/base/json/json";
import { requireRole } from "@/server/catalog/change";
import type { AgentDefinition } from "@/server/catalog/definitions";
import { readCheckedTool } from "@/server/catalog/edit-definition";
import { findAgentIssues } from "@/server/catalog/save-agent";
import { formatLimit, MIB } from "@/server/contract/sizes";
import { readStepOutputs } from "@/server/runs/read/step-outputs";
import { startFromDashboard } from "@/server/runs/rerun";
import type { StartConditions } from "@/server/runs/start-item";
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
  { agentId, definition, message, conditions }: TriedAgent,
): Promise<{ runId: string }> {
  requireRole(actor, "member");
  const issues = await findAgentIssues(definition, { tx: services.db, actor });
  if (issues.length > 0) throw rejection(issues);
  const { slug, name, status, maxCredits, deadlineSeconds, ...settings } = definition;
  const limits = { maxCredits: maxCredits === null ? null : new Decimal(maxCredits), deadlineSeconds };
  const draft = { kind: "agent" as const, settings, ...limits };
  const start = { kind: "agent" as const, id: agentId, input: message, draft, conditions };
  return startFromDashboard(services, actor, start);
}

type TriedAgent = {
  agentId: string;
  definition: AgentDefinition;
  message: string;
  conditions?: StartConditions | undefined;
};

/**
 * Runs a saved tool with an unsaved definition. `until`: the id of the last step, whose output is the run's.
 * `pinned`: steps that are not executed, with the outputs that they had in other runs. Needs the role member. Throws
 * `invalid_request` with issues by line, and the errors of `startFromDashboard`.
 */
export async function tryTool(
  services: Services,
  actor: MemberActor,
  { toolId, yaml, input, until, pinned = {}, conditions }: TriedTool,
): Promise<{ runId: string }> {
  requireRole(actor, "member");
  const definition = await readCheckedTool(services, actor, yaml);
  const { slug, name, description, maxCredits, deadlineSeconds, ...workflow } = definition;
  const tried = until === null ? workflow : cut(workflow, until);
  const draft = {
    kind: "tool" as const,
    pinned: await pinOutputs(services, actor, { tried, pinned }),
    maxCredits: maxCredits === null ? null : new Decimal(maxCredits),
    deadlineSeconds,
    definition: tried,
  };
  return startFromDashboard(services, actor, { kind: "tool", id: toolId, input, draft, conditions });
}

type TriedTool = {
  toolId: string;
  yaml: string;
  input: string;
  until: string | null;
  /** By step id. Null: no output is known. */
  pinned?: Pinned;
  conditions?: StartConditions | undefined;
};

type Pinned = Readonly<Record<string, { runId: string; step: string } | null>>;

const INSTEAD = "Run up to the step instead.";
// Each run is read on its own.
const MAX_PINNED_RUNS = 20;
// The configuration of the test run holds them.
const MAX_PINNED_BYTES = 4 * MIB;
const PINNED_TOO_LARGE = `The outputs are larger than ${formatLimit(MAX_PINNED_BYTES)} together. Unpin some.`;

/** An unknown output is null if no executed step reads it; otherwise throws. Undefined: all steps are executed. */
async function pinOutputs(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  { tried, pinned }: { tried: WorkflowDefinition; pinned: Pinned },
): Promise<JsonObject | undefined> {
  const isPinned = ({ id }: { id: string }) => Object.hasOwn(pinned, id);
  if (!tried.steps.some(isPinned)) return undefined;
  const outputs = await readPinned(services, actor, pinned);
  const texts = [...textsOf({ ...tried, steps: tried.steps.filter((step) => !isPinned(step)) })];
  const found: [string, Json][] = [];
  for (const { id, parallel = [] } of tried.steps.filter(isPinned)) {
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
    found.push([id, output ?? null]);
  }
  return objectOf(found);
}

async function readPinned(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  pinned: Pinned,
): Promise<Map<string, Json>> {
  const pins = Object.entries(pinned).flatMap(([id, pin]) => (pin === null ? [] : [{ id, ...pin }]));
  const runIds = new Set(pins.map(({ runId }) => runId));
  if (runIds.size > MAX_PINNED_RUNS)
    throw rejection([{ path: "", message: `Outputs of more than ${MAX_PINNED_RUNS} runs are pinned.` }]);
  const outputs = new Map<string, Json>();
  let bytes = 0;
  for (const runId of runIds) {
    const ofRun = await readStepOutputs(services, actor, { runId });
    for (const { id, step } of pins.filter((pin) => pin.runId === runId)) {
      const output = ofRun.get(step);
      if (output === undefined) continue;
      outputs.set(id, output);
      bytes += Buffer.byteLength(writeJson(output));
    }
    if (bytes > MAX_PINNED_BYTES) throw rejection([{ path: "", message: PINNED_TOO_LARGE }]);
  }
  return outputs;
}

function cut({ parameters, steps }: WorkflowDefinition, until: string): WorkflowDefinition {
  const last = steps.findIndex(({ id }) => id === until);
  if (last < 0) throw rejection([{ path: "", message: `There is no step "${until}".` }]);
  return { parameters, steps: steps.slice(0, last + 1) };
}
