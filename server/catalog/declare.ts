import type { z } from "zod";
import { Decimal } from "@/server/base/amount";
import type {
  Agent,
  AgentVersion,
  CallbackEndpoint,
  Schedule,
  Tool,
  ToolVersion,
  Trigger,
} from "@/server/base/db/generated/client";
import { readJson, writeJson } from "@/server/base/json/json";
import { readAgentSettings } from "@/server/work/agent/settings";
import { workflowDefinition, workflowStep } from "@/server/work/workflow/definition";
import { callbackDefinition } from "./callbacks/callback-definition";
import { agentDefinition, scheduleDefinition, toolDefinition, triggerDefinition } from "./definitions";
import { storedSignature } from "./webhooks/senders/signature-definition";

/** Stored definitions as the entries of a definition file. */

export function declareAgent(
  agent: Pick<Agent, "slug" | "name" | "status">,
  version: AgentVersion,
): Record<string, unknown> {
  return declare(agentDefinition, { ...agent, ...version, ...readAgentSettings(version) });
}

/** A trigger, without its secrets. */
export function declareTrigger(trigger: Trigger & Targeted): Record<string, unknown> {
  return declare(triggerDefinition, {
    ...trigger,
    name: trigger.name === trigger.slug ? null : trigger.name,
    agent: trigger.agent?.slug,
    tool: trigger.tool?.slug,
    status: trigger.disabledAt === null ? "active" : "inactive",
    signature: storedSignature.parse(trigger.signature),
    rateLimit: { requests: trigger.rateLimitRequests, seconds: trigger.rateLimitSeconds },
  });
}

type Targeted = { agent: { slug: string } | null; tool: { slug: string } | null };

export function declareSchedule({ input, ...schedule }: Schedule & Targeted): Record<string, unknown> {
  return declare(scheduleDefinition, {
    ...schedule,
    name: schedule.name === schedule.slug ? null : schedule.name,
    agent: schedule.agent?.slug,
    tool: schedule.tool?.slug,
    ...(schedule.agent ? { message: input } : { input: input === "{}" ? null : readJson(input) }),
    paused: schedule.pausedAt !== null,
  });
}

/** A callback with the slugs of its filter, without its secrets. */
export function declareCallback(
  callback: CallbackEndpoint,
  filter: Record<"agents" | "tools" | "triggers", string[]>,
): Record<string, unknown> {
  return declare(callbackDefinition, {
    ...callback,
    ...filter,
    name: callback.name === callback.slug ? null : callback.name,
    status: callback.disabledAt === null ? "active" : "inactive",
    metadata: readJson(callback.metadata),
  });
}

/**
 * Leaves out fields with the default value, and nulls that the field does not take. Times are written as ISO 8601,
 * decimals as numbers.
 */
export function declare(schema: z.ZodObject, fields: object): Record<string, unknown> {
  const values = new Map(Object.entries(fields));
  const written = Object.entries(schema.shape).flatMap(([field, type]) => {
    const stored = values.get(field);
    const value = stored === null && !type.safeParse(null).success ? undefined : stored;
    const preset = type.safeParse(undefined).data;
    if (value === undefined || writeJson(value) === writeJson(preset)) return [];
    if (value instanceof Date) return [[field, value.toISOString()]];
    return [[field, Decimal.isDecimal(value) ? value.toNumber() : value]];
  });
  return Object.fromEntries(written);
}

type ToolContent = Pick<Tool, "slug" | "name" | "description"> &
  Pick<ToolVersion, "definition" | "maxCredits" | "deadlineSeconds">;

export function declareTool({ definition, ...tool }: ToolContent): Record<string, unknown> {
  const { steps, ...workflow } = workflowDefinition.parse(readJson(definition));
  const declared = steps.map((step) => declare(workflowStep, step));
  return declare(toolDefinition, { ...tool, ...workflow, steps: declared });
}
