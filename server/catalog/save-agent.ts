import { toolNameForModel } from "@/server/agent/prompts";
import { actorReference, type OrgId } from "@/server/auth/actor";
import { Decimal } from "@/server/credits/amount";
import type { Issue } from "@/server/errors";
import { findFunction, listFunctions } from "@/server/functions/registry";
import { newId } from "@/server/ids";
import type { JsonObject } from "@/server/json/json";
import { checkSchema } from "@/server/json/schema";
import { findSecretNames } from "@/server/secrets/references";
import { agentContent, readToolSlugs } from "./agent-content";
import {
  auditSave,
  type CatalogServices,
  type Change,
  changeCatalog,
  checkExpectation,
  compareSaved,
  type Editor,
  type Saved,
  type SaveOptions,
} from "./change";
import { type AgentDefinition, type AgentInput, agentDefinition } from "./definitions";
import { parseInput, prefixIssues, refusal } from "./issues";
import { resolveSlugs } from "./resolve-slugs";

export type SavedAgent = { id: string; slug: string; version: number; saved: Saved };

/** The agent's unversioned fields; all others belong to a version. */
const UNVERSIONED = new Set(["name", "status"]);

/**
 * Creates or updates the organization's agent of that slug. A changed model, prompt, limit or set of functions and
 * tools creates a new version; a name or status does not. Needs the role member. Throws `invalid_request` with issues,
 * `forbidden`, and `not_found` if an existing agent was expected.
 */
export async function saveAgent(
  services: CatalogServices,
  actor: Editor,
  { definition: input, ...options }: { definition: AgentInput } & SaveOptions,
): Promise<SavedAgent> {
  const definition = parseInput(agentDefinition, input);
  return changeCatalog(services, { actor, role: "member" }, (change) =>
    putAgent(change, definition, options),
  );
}

/** `saveAgent` within a change, for a parsed definition. */
export async function putAgent(
  change: Change,
  definition: AgentDefinition,
  options: SaveOptions = {},
): Promise<SavedAgent> {
  const { tx, actor, at } = change;
  const { slug, name, status, tools, outputSchema, policies, ...content } = definition;
  const found = await tx.agent.findUnique({
    where: { organizationId_slug: { organizationId: actor.orgId, slug } },
    include: { versions: { orderBy: { number: "desc" }, take: 1 } },
  });
  checkExpectation("agent", { slug, found, expected: options });
  const current = found?.versions[0];

  const { ids, faults } = await resolveSlugs(change, "tool", tools);
  const issues = await findAgentFaults(definition, faults, actor.orgId);
  if (issues.length > 0) throw refusal(issues);

  const slugs = await readToolSlugs(tx, actor.orgId, current?.toolIds ?? []);
  const before =
    found && current ? { name: found.name, status: found.status, ...agentContent(current, slugs) } : null;
  const maxCredits = content.maxCredits === null ? null : new Decimal(content.maxCredits);
  const settings = { outputSchema, policies };
  const after = { ...content, ...settings, name, status, tools, maxCredits: maxCredits?.toFixed() ?? null };
  const { saved, changed } = compareSaved(found, before, after);

  const id = found?.id ?? newId();
  const newVersion = [...changed].some((field) => !UNVERSIONED.has(field));
  const version = (found?.version ?? 0) + (newVersion ? 1 : 0);
  if (saved === "unchanged") return { id, slug, version, saved };

  if (found) {
    await tx.agent.update({ where: { id }, data: { name, status, version, updatedAt: at, deletedAt: null } });
  } else {
    await tx.agent.create({
      data: { id, organizationId: actor.orgId, slug, name, status, version, createdAt: at, updatedAt: at },
    });
  }
  if (newVersion) {
    const toolIds = tools.flatMap((tool) => ids.get(tool) ?? []);
    await tx.agentVersion.create({
      data: {
        ...content,
        agentId: id,
        number: version,
        toolIds,
        settings: JSON.stringify(settings),
        maxCredits,
        note: options.note ?? "",
        createdBy: actorReference(actor),
        createdAt: at,
      },
    });
  }
  await auditSave(change, { saved, subject: { kind: "agent", id, name }, before, after });
  return { id, slug, version, saved };
}

/** Every model call pays for the schema. */
const MAX_SCHEMA_BYTES = 64 * 1024;

async function findSchemaFaults(schema: JsonObject, orgId: OrgId): Promise<Issue[]> {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    return [{ path: "", message: `is larger than ${MAX_SCHEMA_BYTES / 1024} KiB` }];
  return checkSchema(schema, orgId);
}

/**
 * Faults of an agent's prompt, functions, tools and output schema. They are references to secrets, unknown names, equal
 * names for the model, policies of what is not attached, and an invalid schema. `toolFaults`: what is wrong with slugs
 * that name no tool.
 */
export async function findAgentFaults(
  { functions, tools, systemPrompt, policies, outputSchema }: AgentDefinition,
  toolFaults: ReadonlyMap<string, string>,
  orgId: OrgId,
): Promise<Issue[]> {
  const issues = outputSchema
    ? prefixIssues(["outputSchema"], await findSchemaFaults(outputSchema, orgId))
    : [];
  if (findSecretNames(systemPrompt).length > 0) {
    const message = "cannot refer to secrets: models never see them. Use one in a step of a tool";
    issues.push({ path: "/systemPrompt", message });
  }
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
    const fault = toolFaults.get(slug);
    if (fault !== undefined) issues.push({ path, message: fault });
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
