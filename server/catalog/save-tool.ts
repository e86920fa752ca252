import { Decimal } from "@/server/base/amount";
import { rejection } from "@/server/base/issues";
import { isJsonObject, type Json, readJson, writeJson } from "@/server/base/json/json";
import { findWorkflowIssues, type KnownNames } from "@/server/work/workflow/check";
import { workflowDefinition } from "@/server/work/workflow/definition";
import type { WorkflowIssue } from "@/server/work/workflow/repair";
import { type Author, type Change, checkExpectation, type SaveOptions, savingVerb } from "./change";
import { NEWEST } from "./definition-rows";
import { type ToolDefinition, toolDefinition } from "./definitions";
import { listSecretNames } from "./organization/secrets";
import { resolveSlugs, type SlugReader } from "./resolve-slugs";
import { type SavedDefinition, saveVersioned } from "./save-versioned";

/**
 * Creates or updates the organization's tool of that slug. A changed workflow or limit creates a new version; a name or
 * description does not.
 */
export const saveTool = savingVerb(toolDefinition, putTool);

/** `saveTool` within a change, for a parsed definition. */
export async function putTool(
  change: Change<Author>,
  definition: ToolDefinition,
  { note, replaces, ...expected }: SaveOptions = {},
): Promise<SavedDefinition> {
  const { tx, actor } = change;
  const { slug, name, description, maxCredits: cap, deadlineSeconds, ...workflow } = definition;
  const found = await tx.tool.findUnique({
    where: { organizationId_slug: { organizationId: actor.orgId, slug } },
    include: { versions: NEWEST },
  });
  checkExpectation("tool", found, { slug, ...expected });
  const issues = await findToolIssues(definition, change);
  if (issues.length > 0) throw rejection(issues);

  const current = found?.versions[0];
  const maxCredits = cap === null ? null : new Decimal(cap);
  return saveVersioned(change, {
    kind: "tool",
    slug,
    found,
    note,
    replaces,
    unversioned: { name, description },
    before: found &&
      current && {
        name: found.name,
        description: found.description,
        ...workflowDefinition.parse(readJson(current.definition)),
        maxCredits: current.maxCredits?.toFixed() ?? null,
        deadlineSeconds: current.deadlineSeconds,
      },
    content: { ...workflow, maxCredits: maxCredits?.toFixed() ?? null, deadlineSeconds },
    save: ({ id, ...row }) =>
      tx.tool.upsert({
        where: { id },
        update: { ...row, name, description },
        create: { id, ...row, organizationId: actor.orgId, slug, name, description, createdAt: change.at },
      }),
    addVersion: (id, version) =>
      tx.toolVersion.create({
        data: {
          ...version,
          toolId: id,
          definition: writeJson(workflow),
          maxCredits,
          deadlineSeconds,
        },
      }),
  });
}

export type ToolReader = SlugReader & Parameters<typeof listSecretNames>[0];

export async function findToolIssues(
  definition: ToolDefinition,
  reader: ToolReader,
): Promise<readonly WorkflowIssue[]> {
  const { slug, name, description, maxCredits, deadlineSeconds, ...workflow } = definition;
  return findIssues(toJson(workflow), slug, reader);
}

export async function findIssuesOfInvalidTool(
  value: unknown,
  reader: ToolReader,
): Promise<readonly WorkflowIssue[]> {
  const json = toJson(value ?? null);
  const slug = toolDefinition.shape.slug.safeParse(isJsonObject(json) ? json.slug : null).data ?? null;
  return findIssues(json, slug, reader);
}

// A tool may call itself, also before it is saved.
async function findIssues(workflow: Json, slug: string | null, reader: ToolReader) {
  const { agent = new Set<string>(), tool = [] } = reader.declared ?? {};
  const declared = { agent, tool: new Set([...tool, ...(slug === null ? [] : [slug])]) };
  const known: KnownNames = {
    secrets: await listSecretNames(reader),
    findUnknown: async (kind, slugs) => (await resolveSlugs({ ...reader, declared }, kind, slugs)).issues,
  };
  return findWorkflowIssues(workflow, known, reader.actor.orgId);
}

function toJson(value: unknown): Json {
  const json: Json = readJson(writeJson(value));
  return json;
}
