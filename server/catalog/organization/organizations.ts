import { z } from "zod";
import { actorReference, type OperatorActor, type OrgId } from "@/server/auth/actor";
import { mintOrgId } from "@/server/auth/mint-org-id";
import { clockAt } from "@/server/clock";
import { Decimal } from "@/server/credits/amount";
import { grantCredits } from "@/server/credits/ledger";
import type { Transaction } from "@/server/db/client";
import { queryThrough, transact } from "@/server/db/sql";
import { AppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { readModelProviders, writeModelProviders } from "@/server/runs/find-model-providers";
import type { Services } from "@/server/services";
import { auditSave, type CatalogServices, type Change, compareSaved, type Saved } from "../change";
import { amountAboveZero, type OrganizationDefinition, type PlanDefinition } from "../definitions";
import { parseInput } from "../issues";

export type SavedOrganization = { id: OrgId; slug: string; saved: Saved; change: Change };

/**
 * Creates or updates an organization, for the operator only, in a transaction that holds the slug's lock. Credits are
 * granted only at creation. Returns the change for saving what belongs to it.
 */
export async function putOrganization(
  tx: Transaction,
  services: Pick<CatalogServices, "clock" | "encryption">,
  { operatorName, definition }: { operatorName: string; definition: OrganizationDefinition },
): Promise<SavedOrganization> {
  const { slug } = definition;
  const at = services.clock.now();
  const found = await tx.organization.findUnique({ where: { slug }, include: { plan: true } });
  const id = mintOrgId(found?.id ?? newId());
  const actor: OperatorActor = { kind: "operator", orgId: id, name: operatorName };
  const change: Change = { tx, actor, encryption: services.encryption, at };

  const name = definition.name ?? found?.name ?? slug;
  const planBefore = found?.plan ? describePlan(found.plan) : null;
  const plan = toPlanData(definition.plan);
  if (!found) {
    await tx.organization.create({
      data: {
        id,
        slug,
        name,
        createdAt: at,
        updatedAt: at,
        plan: { create: { ...plan, updatedAt: at } },
        modelProviders: writeModelProviders(definition.modelProviders ?? []),
      },
    });
    const credits = new Decimal(definition.credits ?? 0);
    if (credits.gt(0)) {
      const grant = {
        orgId: id,
        amount: credits,
        note: "First credits",
        actor: "operator",
        clock: clockAt(at),
      };
      await grantCredits(queryThrough(tx), grant);
    }
    const made = await tx.plan.findUniqueOrThrow({ where: { organizationId: id } });
    const { modelProviders } = definition;
    const own = modelProviders === undefined ? {} : { modelProviders };
    const after = { name, plan: describePlan(made), credits: credits.toFixed(), ...own };
    await auditSave(change, {
      saved: "created",
      subject: { kind: "organization", id, name },
      before: null,
      after,
    });
    return { id, slug, saved: "created", change };
  }

  const planAfter = { ...planBefore, ...definition.plan };
  const providers = readModelProviders(found.modelProviders);
  const before = { name: found.name, plan: planBefore, modelProviders: providers };
  const after = { name, plan: planAfter, modelProviders: definition.modelProviders ?? providers };
  const { saved, changed } = compareSaved({ deletedAt: null }, before, after);
  if (changed.has("name") || changed.has("modelProviders")) {
    const modelProviders = writeModelProviders(after.modelProviders);
    await tx.organization.update({ where: { id }, data: { name, modelProviders, updatedAt: at } });
  }
  if (changed.has("plan")) {
    await tx.plan.upsert({
      where: { organizationId: id },
      create: { ...plan, organizationId: id, updatedAt: at },
      update: { ...plan, updatedAt: at },
    });
  }
  await auditSave(change, { saved, subject: { kind: "organization", id, name }, before, after });
  return { id, slug, saved, change };
}

/** The operator as an actor in an organization; throws `not_found`. */
export async function operatorOf(
  services: { db: Pick<Transaction, "organization"> },
  slug: string,
  operatorName = "operator",
): Promise<OperatorActor> {
  const found = await services.db.organization.findUnique({ where: { slug }, select: { id: true } });
  if (!found) throw new AppError("not_found", `There is no organization "${slug}".`);
  return { kind: "operator", orgId: mintOrgId(found.id), name: operatorName };
}

/** Grants an organization credits, for the operator only. Returns the new balance. */
export async function grantToOrganization(
  services: Pick<Services, "pool" | "clock">,
  actor: OperatorActor,
  input: { amount: string | number; note: string },
): Promise<Decimal> {
  const { amount, note } = parseInput(grant, input);
  return transact(services.pool, (client) =>
    grantCredits(client, {
      orgId: actor.orgId,
      amount: new Decimal(amount),
      note,
      actor: actorReference(actor),
      clock: services.clock,
    }),
  );
}

const grant = z.strictObject({ amount: amountAboveZero, note: z.string().max(1_000) });

type PlanRow = {
  apiAccess: boolean;
  monthlyCredits: Decimal;
  startsPerMinute: number | null;
  readsPerMinute: number | null;
  concurrency: number;
  retentionDays: number;
};

/** A plan with every limit. */
export type PlanFacts = {
  apiAccess: boolean;
  /** A decimal. */
  monthlyCredits: string;
  startsPerMinute: number | "unlimited";
  readsPerMinute: number | "unlimited";
  concurrency: number;
  retentionDays: number;
};

/** A plan in the order of the definition file. */
export function describePlan(plan: PlanRow): PlanFacts {
  return {
    apiAccess: plan.apiAccess,
    monthlyCredits: plan.monthlyCredits.toFixed(),
    startsPerMinute: plan.startsPerMinute ?? "unlimited",
    readsPerMinute: plan.readsPerMinute ?? "unlimited",
    concurrency: plan.concurrency,
    retentionDays: plan.retentionDays,
  };
}

/** Omitted fields keep their value or, in a new plan, get the schema's default. */
function toPlanData(plan: PlanDefinition): Partial<PlanRow> {
  const { monthlyCredits, ...rest } = plan;
  const data: Partial<PlanRow> = {};
  for (const [key, value] of Object.entries(rest))
    if (value !== undefined) Object.assign(data, { [key]: value === "unlimited" ? null : value });
  if (monthlyCredits !== undefined) data.monthlyCredits = new Decimal(monthlyCredits);
  return data;
}
