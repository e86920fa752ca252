import type { OrgId } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import type { AgentVersion } from "@/server/base/db/generated/client";
import type { Issue } from "@/server/base/errors";
import { prefixIssues, rejection } from "@/server/base/issues";
import { type JsonObject, writeJson } from "@/server/base/json/json";
import { formatLimit } from "@/server/contract/sizes";
import { findSecretNames } from "@/server/guard/secrets/references";
import { toolNameForModel } from "@/server/work/agent/prompts";
import { MAX_AGENT_SCHEMA_BYTES, readAgentSettings } from "@/server/work/agent/settings";
import { findFunction, listFunctions } from "@/server/work/functions/core/registry";
import { checkSchema } from "@/server/work/json-schema/schema";
import { findOptionIssues } from "@/server/work/models/settings";
import {
  type Author,
  type Change,
  checkExpectation,
  type SaveOptions,
  savingVerb,
  statusToSave,
} from "./change";
import { NEWEST } from "./definition-rows";
import { type AgentDefinition, agentDefinition } from "./definitions";
import { resolveSlugs, type SlugReader } from "./resolve-slugs";
import { type SavedDefinition, saveVersioned } from "./save-versioned";

/**
 * Creates or updates the organization's agent of that slug. A changed setting creates a new version; a name or
 * status does not.
 */
export const saveAgent = savingVerb(agentDefinition, putAgent);

/** `saveAgent` within a change, for a parsed definition. */
export async function putAgent(
  change: Change<Author>,
  definition: AgentDefinition,
  { note, replaces, ...expected }: SaveOptions = {},
): Promise<SavedDefinition> {
  const { tx, actor } = change;
  const { slug, name, status: wanted, maxCredits: cap, deadlineSeconds, ...settings } = definition;
  const found = await tx.agent.findUnique({
    where: { organizationId_slug: { organizationId: actor.orgId, slug } },
    include: { versions: NEWEST },
  });
  checkExpectation("agent", found, { slug, ...expected });
  const issues = await findAgentIssues(definition, change);
  if (issues.length > 0) throw rejection(issues);

  const status = statusToSave(wanted, { stored: found?.status, opened: replaces?.status });
  const current = found?.versions[0];
  const maxCredits = cap === null ? null : new Decimal(cap);
  return saveVersioned(change, {
    kind: "agent",
    slug,
    found,
    note,
    replaces,
    unversioned: { name, status },
    before: found && current && { name: found.name, status: found.status, ...agentContent(current) },
    content: { ...settings, maxCredits: maxCredits?.toFixed() ?? null, deadlineSeconds },
    save: ({ id, ...row }) =>
      tx.agent.upsert({
        where: { id },
        update: { ...row, name, status },
        create: { id, ...row, organizationId: actor.orgId, slug, name, status, createdAt: change.at },
      }),
    addVersion: (id, version) =>
      tx.agentVersion.create({
        data: {
          ...version,
          agentId: id,
          definition: writeJson(settings),
          maxCredits,
          deadlineSeconds,
        },
      }),
  });
}

/** A stored version as the versioned fields of a definition. */
export function agentContent(
  version: Pick<AgentVersion, "definition" | "maxCredits" | "deadlineSeconds">,
): Omit<AgentDefinition, "slug" | "name" | "status"> {
  const { maxCredits, deadlineSeconds } = version;
  return { ...readAgentSettings(version), maxCredits: maxCredits?.toFixed() ?? null, deadlineSeconds };
}

async function findSchemaIssues(schema: JsonObject, orgId: OrgId): Promise<Issue[]> {
  if (Buffer.byteLength(writeJson(schema)) > MAX_AGENT_SCHEMA_BYTES)
    return [{ path: "", message: `is larger than ${formatLimit(MAX_AGENT_SCHEMA_BYTES)}` }];
  return checkSchema(schema, orgId);
}

/**
 * Finds an agent's issues beyond its schema: references to secrets, unknown names, a name that two functions or
 * tools share for the model, policies of names that are not attached, and an invalid output schema.
 */
export async function findAgentIssues(definition: AgentDefinition, reader: SlugReader): Promise<Issue[]> {
  const { functions, tools, systemPrompt, policies, outputSchema, modelOptions = {} } = definition;
  const { issues: toolIssues } = await resolveSlugs(reader, "tool", tools);
  const issues = outputSchema
    ? prefixIssues(["outputSchema"], await findSchemaIssues(outputSchema, reader.actor.orgId))
    : [];
  const own = definition.fallbackModels?.indexOf(definition.model) ?? -1;
  if (own >= 0) issues.push({ path: `/fallbackModels/${own}`, message: "is the agent's own model" });
  const options = writeJson(modelOptions);
  for (const [path, sent] of Object.entries({ "/systemPrompt": systemPrompt, "/modelOptions": options })) {
    if (findSecretNames(sent).length === 0) continue;
    const message = "cannot refer to secrets: models never see them. Use one in a step of a tool";
    issues.push({ path, message });
  }
  for (const message of findOptionIssues(modelOptions)) issues.push({ path: "/modelOptions", message });
  for (const [index, name] of functions.entries()) {
    if (findFunction(name) === undefined) {
      const names = listFunctions().map((definition) => definition.name);
      issues.push({
        path: `/functions/${index}`,
        message: `"${name}" is not a function. Known functions: ${names.join(", ")}`,
      });
    }
  }
  for (const [index, slug] of tools.entries()) {
    const path = `/tools/${index}`;
    const issue = toolIssues.get(slug);
    if (issue !== undefined) issues.push({ path, message: issue.message });
    else if (functions.includes(toolNameForModel(slug))) {
      const message = `"${slug}" would have the same name for the model as the function ${toolNameForModel(slug)}`;
      issues.push({ path, message });
    }
  }
  const attached = new Set([...functions, ...tools]);
  for (const name of Object.keys(policies)) {
    if (attached.has(name)) continue;
    const message = "is neither in functions nor in tools";
    issues.push(...prefixIssues(["policies", name], [{ path: "", message }]));
  }
  return issues;
}
