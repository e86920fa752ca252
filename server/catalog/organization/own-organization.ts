import { z } from "zod";
import { type MemberActor, roleCovers } from "@/server/base/actor";
import type { Services } from "@/server/catalog/services";
import { parseModelProviders } from "@/server/runs/find-model-providers";
import { catalogVerb, saveItem } from "../change";
import { organizationDefinition } from "../definitions";
import { describePlan } from "./organizations";

/** An organization as its members see it. The operator changes the plan and suspends. */
export type OrganizationFacts = Awaited<ReturnType<typeof describeOwnOrganization>>;

/**
 * The reader's organization with its plan and what it uses. The reason of a suspension is for admins and owners. Without a
 * plan, nothing starts.
 */
export async function describeOwnOrganization(
  { db, clock }: Pick<Services, "clock" | "db">,
  actor: MemberActor,
) {
  const present = { where: { deletedAt: null } };
  const usable = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }] };
  const found = await db.organization.findUniqueOrThrow({
    where: { id: actor.orgId },
    include: {
      plan: true,
      _count: {
        select: {
          members: true,
          agents: present,
          tools: present,
          triggers: present,
          secrets: true,
          apiKeys: { where: usable },
        },
      },
    },
  });
  const { id, slug, name, createdAt, plan, suspendedAt, suspendedReason } = found;
  const reason = roleCovers(actor.role, "admin") ? suspendedReason : null;
  return {
    id,
    slug,
    name,
    createdAt: createdAt.toISOString(),
    suspended: suspendedAt && { at: suspendedAt.toISOString(), reason },
    plan: plan && describePlan(plan),
    usage: {
      running: found.inFlight,
      modelProviders: parseModelProviders(found.modelProviders).length,
      ...found._count,
    },
  };
}

/** Renames the organization; its slug stays. */
export const renameOrganization = catalogVerb(
  { role: "owner", input: z.strictObject({ name: organizationDefinition.shape.name.unwrap() }) },
  async (change, { name }) => {
    const { tx, at, actor } = change;
    const id = actor.orgId;
    const before = await tx.organization.findUniqueOrThrow({ where: { id }, select: { name: true } });
    const subject = { kind: "organization" as const, id, name };
    const saved = await saveItem(change, { subject, before, after: { name } }, () =>
      tx.organization.update({ where: { id }, data: { name, updatedAt: at } }),
    );
    return { saved };
  },
);
