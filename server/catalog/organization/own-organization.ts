import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { roleCovers } from "@/server/auth/sessions";
import { readModelProviders } from "@/server/runs/find-model-providers";
import type { Services } from "@/server/services";
import {
  auditSave,
  type CatalogServices,
  changeCatalog,
  compareSaved,
  type Editor,
  type Saved,
} from "../change";
import { organizationDefinition } from "../definitions";
import { parseInput } from "../issues";
import { describePlan, type PlanFacts } from "./organizations";

/** An organization as its members see it. The operator changes the plan and suspends. */
export type OrganizationFacts = {
  id: string;
  slug: string;
  name: string;
  createdAt: string;
  /** `reason` is for admins and owners. */
  suspended: { at: string; reason: string | null } | null;
  /** Null: without a plan, nothing starts. */
  plan: PlanFacts | null;
  usage: {
    /** Runs that count against the plan's concurrency. */
    running: number;
    members: number;
    agents: number;
    tools: number;
    triggers: number;
    secrets: number;
    modelProviders: number;
    /** Keys that are neither revoked nor expired. */
    apiKeys: number;
  };
};

/** The reader's organization with its plan and what it uses. */
export async function describeOwnOrganization(
  { db, clock }: Services,
  actor: MemberActor,
): Promise<OrganizationFacts> {
  const present = { where: { deletedAt: null } };
  const usable = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }] };
  const { plan, suspendedAt, suspendedReason, modelProviders, _count, ...found } =
    await db.organization.findUniqueOrThrow({
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
  const reason = roleCovers(actor.role, "admin") ? suspendedReason : null;
  return {
    id: found.id,
    slug: found.slug,
    name: found.name,
    createdAt: found.createdAt.toISOString(),
    suspended: suspendedAt && { at: suspendedAt.toISOString(), reason },
    plan: plan && describePlan(plan),
    usage: {
      running: found.inFlight,
      modelProviders: readModelProviders(modelProviders).length,
      ..._count,
    },
  };
}

export const organizationName = z.strictObject({ name: organizationDefinition.shape.name.unwrap() });

/** Renames the organization; its slug stays. Needs the role owner. */
export async function renameOrganization(
  services: CatalogServices,
  actor: Editor,
  input: z.input<typeof organizationName>,
): Promise<{ saved: Saved }> {
  const { name } = parseInput(organizationName, input);
  return changeCatalog(services, { actor, role: "owner" }, async (change) => {
    const { tx, at } = change;
    const id = actor.orgId;
    const before = await tx.organization.findUniqueOrThrow({ where: { id }, select: { name: true } });
    const { saved } = compareSaved({ deletedAt: null }, before, { name });
    if (saved !== "unchanged") await tx.organization.update({ where: { id }, data: { name, updatedAt: at } });
    await auditSave(change, { saved, subject: { kind: "organization", id, name }, before, after: { name } });
    return { saved };
  });
}
