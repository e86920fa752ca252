import { z } from "zod";
import type { Actor, OrgId } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { queryThrough } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import type { Services } from "@/server/catalog/services";
import { RUN_KINDS, type RunKind } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { readAgentSettings } from "@/server/work/agent/settings";
import { findAgentsWithTool } from "./agent-rows";
import { type Author, type Change, catalogVerb } from "./change";
import { type DefinitionRef, findDefinitions, inUse, setDeleted } from "./definition-rows";
import { mayUse } from "./key-targets";
import { findCallsOf } from "./stored-tool";
import { findCallingTools } from "./tool-rows";

const MAX_ARCHIVED = 200;

export type ArchivedLine = Awaited<ReturnType<typeof listArchived>>[number];

/** The organization's archived agents or tools, the last archived first. */
export async function listArchived(
  { db }: Pick<Services, "db">,
  { orgId }: Actor,
  { kind }: Pick<DefinitionRef, "kind">,
) {
  const found = await findDefinitions(db, kind, {
    where: { organizationId: orgId, deletedAt: { not: null } },
    orderBy: { deletedAt: "desc" },
    take: MAX_ARCHIVED,
  });
  return found.map(({ deletedAt, ...line }) => ({ ...line, at: deletedAt?.toISOString() ?? "" }));
}

const REMOVABLE = [...RUN_KINDS, "trigger", "schedule"] as const;
const removable = z.object({ kind: z.enum(REMOVABLE) });

/**
 * Archives an agent or tool, or deletes a trigger or schedule. Saving its slug again restores it with its id. Rejects an
 * agent or tool that others use. Throws `not_found`.
 */
export const removeDefinition = catalogVerb(
  {
    role: "member",
    input: z.union([removable.extend({ id: idInput() }), removable.extend({ slug: z.string() })]),
  },
  async (change, { kind, ...reference }) => {
    const { tx, actor } = change;
    const where = { ...inUse(actor), ...reference };
    const [found] = await findRemovable(tx, kind, where);
    if (!found) {
      const called = "slug" in reference ? `${kind} "${reference.slug}"` : `such ${kind}`;
      throw new AppError("not_found", `There is no ${called}.`);
    }
    await archive(change, { kind, ...found });
  },
);

/** Archives within a change what exists; see `removeDefinition`. */
export async function archive(
  change: Change<Author>,
  { kind, id, slug, name }: { kind: Removable; id: string; slug: string; name: string },
): Promise<void> {
  const { tx, at } = change;
  if (kind === "agent" || kind === "tool") await rejectWhileUsed(change, { kind, id, slug, name });
  await setDeleted(tx, { kind, id }, { deletedAt: at, at });
  // A restored trigger has a new address, and only the secret that comes with it.
  if (kind === "trigger") await tx.triggerSecret.deleteMany({ where: { triggerId: id } });
  await recordAudit(change, { verb: "removed", subject: { kind, id, name }, changes: { slug } });
}

/** Restores an archived agent or tool with its id and versions. Rejects it while what it uses is archived. Throws `not_found`. */
export const restoreDefinition = catalogVerb(
  { role: "member", input: z.object({ kind: z.enum(RUN_KINDS), id: idInput() }) },
  async (change, { kind, id }) => {
    const { tx, at, actor } = change;
    const where = { id, organizationId: actor.orgId, deletedAt: { not: null } };
    const [found] = await findDefinitions(tx, kind, { where });
    if (!found) throw new AppError("not_found", `There is no such archived ${kind}.`);
    const { slug, name } = found;
    await rejectWhileItUsesArchived(change, { kind, ...found });
    await setDeleted(tx, { kind, id }, { deletedAt: null, at });
    await recordAudit(change, { verb: "restored", subject: { kind, id, name }, changes: { slug } });
  },
);

export type Removable = (typeof REMOVABLE)[number];

function findRemovable(tx: Transaction, kind: Removable, where: { organizationId: OrgId; deletedAt: null }) {
  const select = { id: true, slug: true, name: true } as const;
  if (kind === "trigger") return tx.trigger.findMany({ where, select });
  if (kind === "schedule") return tx.schedule.findMany({ where, select });
  return findDefinitions(tx, kind, { where });
}

async function rejectWhileUsed(
  { tx, actor }: Change<Author>,
  { name, ...used }: { kind: RunKind; id: string; slug: string; name: string },
): Promise<void> {
  const client = queryThrough(tx);
  const agents = used.kind === "tool" ? await findAgentsWithTool(client, actor.orgId, used.slug) : [];
  const tools = await findCallingTools(client, actor.orgId, used);
  const users = [...agents, ...tools];
  if (users.length === 0) return;
  const known = users.filter(({ id }) => mayUse(actor, id));
  const others = users.length > known.length ? ["others"] : [];
  const slugs = [...known.map(({ slug }) => slug), ...others].join(", ");
  throw new AppError("invalid_request", `${name} is used by ${slugs}. Remove it there first.`);
}

async function rejectWhileItUsesArchived(
  { tx, actor }: Change,
  { kind, id, name }: { kind: RunKind; id: string; name: string },
): Promise<void> {
  const used = kind === "agent" ? await findUsesOfAgent(tx, id) : await findUsesOfTool(tx, id);
  for (const usedKind of RUN_KINDS) {
    const found = await findDefinitions(tx, usedKind, {
      where: { organizationId: actor.orgId, slug: { in: used[usedKind] }, deletedAt: { not: null } },
    });
    // A tool may call itself.
    const archived = found.filter((one) => one.id !== id);
    if (archived.length === 0) continue;
    const slugs = archived.map(({ slug }) => slug).join(", ");
    const message = `${name} uses archived ${usedKind}s: ${slugs}. Restore them first.`;
    throw new AppError("invalid_request", message);
  }
}

type Uses = Record<RunKind, string[]>;

async function findUsesOfAgent(tx: Transaction, agentId: string): Promise<Uses> {
  const newest = await tx.agentVersion.findFirst({ where: { agentId }, orderBy: { number: "desc" } });
  return { agent: [], tool: newest ? readAgentSettings(newest).tools : [] };
}

async function findUsesOfTool(tx: Transaction, toolId: string): Promise<Uses> {
  const newest = await tx.toolVersion.findFirst({ where: { toolId }, orderBy: { number: "desc" } });
  const calledBy = (kind: RunKind) =>
    findCallsOf(`run_${kind}`, newest?.definition ?? "{}").flatMap(({ with: { [kind]: slug } }) =>
      typeof slug === "string" ? [slug] : [],
    );
  return { agent: calledBy("agent"), tool: calledBy("tool") };
}
