import type { MemberActor } from "@/server/auth/actor";
import { AppError } from "@/server/errors";
import { recordAudit } from "@/server/operate/audit";
import type { Services } from "@/server/services";
import { type CatalogServices, type Change, changeCatalog, type Editor } from "./change";
import { toolDefinition } from "./definitions";
import { readAgentDefinition, readToolDefinition } from "./edit-definition";
import { parseInput } from "./issues";
import { type SavedAgent, saveAgent } from "./save-agent";
import { type SavedTool, saveTool } from "./save-tool";
import type { DefinitionRef } from "./versions";

/** An agent or tool that was archived: it starts nothing until it is restored. */
export type ArchivedLine = { id: string; slug: string; name: string; version: number; at: string };

/** Lists read no more than these, the last archived first. */
const MAX_ARCHIVED = 200;

/** The organization's archived agents or tools, the last archived first. */
export async function listArchived(
  { db }: Services,
  actor: MemberActor,
  kind: DefinitionRef["kind"],
): Promise<ArchivedLine[]> {
  const query = {
    where: { organizationId: actor.orgId, deletedAt: { not: null } },
    orderBy: { deletedAt: "desc" },
    take: MAX_ARCHIVED,
    select: { id: true, slug: true, name: true, version: true, deletedAt: true },
  } as const;
  const found = kind === "agent" ? await db.agent.findMany(query) : await db.tool.findMany(query);
  return found.map(({ deletedAt, ...line }) => ({ ...line, at: deletedAt?.toISOString() ?? "" }));
}

/**
 * Restores an archived agent or tool with its id and versions. Refuses an agent whose tools are archived. Needs the role
 * member. Throws `not_found`, `invalid_request`, `forbidden`.
 */
export async function restoreDefinition(
  services: CatalogServices,
  actor: Editor,
  { kind, id }: DefinitionRef,
): Promise<void> {
  await changeCatalog(services, { actor, role: "member" }, async (change) => {
    const { tx, at } = change;
    const query = {
      where: { id, organizationId: actor.orgId, deletedAt: { not: null } },
      select: { slug: true, name: true },
    };
    const found = kind === "agent" ? await tx.agent.findFirst(query) : await tx.tool.findFirst(query);
    if (!found) throw new AppError("not_found", `There is no such archived ${kind}.`);
    if (kind === "agent") await refuseWithArchivedTools(change, id, found.name);

    const restored = { where: { id }, data: { deletedAt: null, updatedAt: at } };
    if (kind === "agent") await tx.agent.update(restored);
    else await tx.tool.update(restored);
    await recordAudit(change, {
      verb: "restored",
      subject: { kind, id, name: found.name },
      changes: { slug: found.slug },
    });
  });
}

async function refuseWithArchivedTools({ tx, actor }: Change, agentId: string, name: string): Promise<void> {
  const newest = await tx.agentVersion.findFirst({
    where: { agentId },
    orderBy: { number: "desc" },
    select: { toolIds: true },
  });
  const archived = await tx.tool.findMany({
    where: { organizationId: actor.orgId, id: { in: newest?.toolIds ?? [] }, deletedAt: { not: null } },
    select: { slug: true },
  });
  if (archived.length === 0) return;
  const slugs = archived.map(({ slug }) => slug).join(", ");
  throw new AppError("invalid_request", `${name} uses archived tools: ${slugs}. Restore them first.`);
}

/**
 * Makes an earlier version the current one, as a new version. `current` is the version that the caller saw as current.
 * The name and what else belongs to no version stay. Needs the role member. Throws `not_found`, `forbidden`, and
 * `invalid_request` if the definition is no longer valid or another version is current.
 */
export async function returnToVersion(
  services: Services,
  actor: MemberActor,
  { kind, id, number, current }: DefinitionRef & { number: number; current: number },
): Promise<SavedAgent | SavedTool> {
  const options = { only: "update", id, version: current, note: `Return to version ${number}` } as const;
  if (kind === "agent") {
    const { definition } = await readAgentDefinition(services, actor, { agentId: id, number });
    return saveAgent(services, actor, { definition, ...options });
  }
  const { declared } = await readToolDefinition(services, actor, { toolId: id, number });
  return saveTool(services, actor, { definition: parseInput(toolDefinition, declared), ...options });
}
