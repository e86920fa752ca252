import type { AuditSubject } from "@/server/contract/enums";
import { AppError } from "@/server/errors";
import { recordAudit } from "@/server/operate/audit";
import { type CatalogServices, type Change, changeCatalog, type Editor } from "./change";

export type Removable = Extract<AuditSubject, "agent" | "tool" | "trigger">;

/**
 * Deletes an agent, tool or trigger. It starts nothing any more; its runs and versions stay. Saving its slug again
 * restores it with its id, as `restoreDefinition` does. Refuses a tool that agents use. Needs the role member. Throws
 * `not_found`, `invalid_request`, `forbidden`.
 */
export async function removeDefinition(
  services: CatalogServices,
  actor: Editor,
  { kind, ...reference }: { kind: Removable } & ({ slug: string } | { id: string }),
): Promise<void> {
  await changeCatalog(services, { actor, role: "member" }, async (change) => {
    const { tx, at } = change;
    const where = { organizationId: actor.orgId, ...reference, deletedAt: null };
    const select = { id: true, slug: true, name: true };
    const found =
      kind === "agent"
        ? await tx.agent.findFirst({ where, select })
        : kind === "tool"
          ? await tx.tool.findFirst({ where, select })
          : await tx.trigger.findFirst({ where, select });
    if (!found) {
      throw new AppError(
        "not_found",
        "slug" in reference ? `There is no ${kind} "${reference.slug}".` : `There is no such ${kind}.`,
      );
    }
    const { id, slug, name } = found;
    if (kind === "tool") await refuseWhileAttached(change, id, name);

    const removed = { where: { id }, data: { deletedAt: at, updatedAt: at } };
    if (kind === "agent") await tx.agent.update(removed);
    else if (kind === "tool") await tx.tool.update(removed);
    else await tx.trigger.update(removed);
    await recordAudit(change, { verb: "removed", subject: { kind, id, name }, changes: { slug } });
  });
}

async function refuseWhileAttached({ tx, actor }: Change, toolId: string, name: string): Promise<void> {
  const agents = await tx.agent.findMany({
    where: { organizationId: actor.orgId, deletedAt: null, versions: { some: { toolIds: { has: toolId } } } },
    select: { slug: true, versions: { orderBy: { number: "desc" }, take: 1, select: { toolIds: true } } },
  });
  const users = agents.filter(({ versions: [newest] }) => newest?.toolIds.includes(toolId));
  if (users.length === 0) return;
  const slugs = users.map(({ slug }) => slug).join(", ");
  throw new AppError("invalid_request", `${name} is used by ${slugs}. Remove it there first.`);
}
