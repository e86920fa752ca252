import { actorReference } from "@/server/auth/actor";
import { Decimal } from "@/server/credits/amount";
import type { Issue } from "@/server/errors";
import { newId } from "@/server/ids";
import { isJsonObject, type Json } from "@/server/json/json";
import { findWorkflowFaults, type KnownNames } from "@/server/workflow/check";
import { workflowDefinition } from "@/server/workflow/definition";
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
import { type ToolDefinition, type ToolInput, toolDefinition } from "./definitions";
import { parseInput, refusal } from "./issues";
import { listSecretNames } from "./organization/secrets";
import { resolveSlugs, type SlugReader } from "./resolve-slugs";

export type SavedTool = { id: string; slug: string; version: number; saved: Saved };

/** The tool's unversioned fields; all others belong to a version. */
const UNVERSIONED = new Set(["name", "description"]);

/**
 * Creates or updates the organization's tool of that slug. A changed workflow or limit creates a new version; a name or
 * description does not. Needs the role member. Throws `invalid_request` with issues, `forbidden`, and `not_found` if an
 * existing tool was expected.
 */
export async function saveTool(
  services: CatalogServices,
  actor: Editor,
  { definition: input, ...options }: { definition: ToolInput } & SaveOptions,
): Promise<SavedTool> {
  const definition = parseInput(toolDefinition, input);
  return changeCatalog(services, { actor, role: "member" }, (change) => putTool(change, definition, options));
}

/** `saveTool` within a change, for a parsed definition. */
export async function putTool(
  change: Change,
  definition: ToolDefinition,
  options: SaveOptions = {},
): Promise<SavedTool> {
  const { tx, actor, at } = change;
  const { slug, name, description, maxCredits: cap, deadlineSeconds, ...workflow } = definition;
  const found = await tx.tool.findUnique({
    where: { organizationId_slug: { organizationId: actor.orgId, slug } },
    include: { versions: { orderBy: { number: "desc" }, take: 1 } },
  });
  checkExpectation("tool", { slug, found, expected: options });
  const faults = await findToolFaults(definition, change);
  if (faults.length > 0) throw refusal(faults);
  const current = found?.versions[0];

  const before =
    found && current
      ? {
          name: found.name,
          description: found.description,
          ...workflowDefinition.parse(JSON.parse(current.definition)),
          maxCredits: current.maxCredits?.toFixed() ?? null,
          deadlineSeconds: current.deadlineSeconds,
        }
      : null;
  const maxCredits = cap === null ? null : new Decimal(cap);
  const after = {
    name,
    description,
    ...workflow,
    maxCredits: maxCredits?.toFixed() ?? null,
    deadlineSeconds,
  };
  const { saved, changed } = compareSaved(found, before, after);

  const id = found?.id ?? newId();
  const newVersion = [...changed].some((field) => !UNVERSIONED.has(field));
  const version = (found?.version ?? 0) + (newVersion ? 1 : 0);
  if (saved === "unchanged") return { id, slug, version, saved };

  if (found) {
    await tx.tool.update({
      where: { id },
      data: { name, description, version, updatedAt: at, deletedAt: null },
    });
  } else {
    await tx.tool.create({
      data: {
        id,
        organizationId: actor.orgId,
        slug,
        name,
        description,
        version,
        createdAt: at,
        updatedAt: at,
      },
    });
  }
  if (newVersion) {
    await tx.toolVersion.create({
      data: {
        toolId: id,
        number: version,
        definition: JSON.stringify(workflow),
        maxCredits,
        deadlineSeconds,
        note: options.note ?? "",
        createdBy: actorReference(actor),
        createdAt: at,
      },
    });
  }
  await auditSave(change, { saved, subject: { kind: "tool", id, name }, before, after });
  return { id, slug, version, saved };
}

/** What the check of a tool reads. */
export type ToolReader = SlugReader & Parameters<typeof listSecretNames>[0];

/** What is wrong with a tool's workflow, beside its schema. */
export async function findToolFaults(
  definition: ToolDefinition,
  reader: ToolReader,
): Promise<readonly Issue[]> {
  const { slug, name, description, maxCredits, deadlineSeconds, ...workflow } = definition;
  return findFaults(toJson(workflow), slug, reader);
}

/** The same for a tool that its schema refuses: the faults besides those of the schema. */
export async function findFaultsOfInvalidTool(value: unknown, reader: ToolReader): Promise<readonly Issue[]> {
  const json = toJson(value ?? null);
  const slug = toolDefinition.shape.slug.safeParse(isJsonObject(json) ? json.slug : null).data ?? null;
  return findFaults(json, slug, reader);
}

/** A tool may call itself, also before it is saved. */
async function findFaults(workflow: Json, slug: string | null, reader: ToolReader) {
  const { agent = new Set<string>(), tool = [] } = reader.declared ?? {};
  const declared = { agent, tool: new Set([...tool, ...(slug === null ? [] : [slug])]) };
  const known: KnownNames = {
    secrets: await listSecretNames(reader),
    findUnknown: async (kind, slugs) => (await resolveSlugs({ ...reader, declared }, kind, slugs)).faults,
  };
  return findWorkflowFaults(workflow, known, reader.actor.orgId);
}

function toJson(value: unknown): Json {
  const json: Json = JSON.parse(JSON.stringify(value));
  return json;
}
