import { z } from "zod";
import { actorReference, type OperatorActor, type OrgId } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { changedFields, type Facts, recordAudit } from "@/server/base/audit";
import { clockAt } from "@/server/base/clock";
import type { Transaction } from "@/server/base/db/client";
import type { Organization, Plan } from "@/server/base/db/generated/client";
import { queryThrough } from "@/server/base/db/statement";
import { transact } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { parseInput } from "@/server/base/issues";
import { mintOrgId } from "@/server/base/mint-org-id";
import type { Services } from "@/server/catalog/services";
import { grantCredits } from "@/server/credits/ledger";
import { parseModelProviders, stringifyModelProviders } from "@/server/runs/find-model-providers";
import { type AccountWrite, type CatalogServices, type Change, type Saved, saveItem } from "../change";
import { amountAboveZero, type OrganizationDefinition, type PlanDefinition, UNLIMITED } from "../definitions";

/** The entry of the ledger that `credits` of a definition file makes. */
export const FIRST_GRANT = { note: "First credits", actor: "operator" };

type SavedOrganization = { id: OrgId; slug: string; saved: Saved; change: Change };

/**
 * Creates or updates an organization, for the operator only. The transaction must hold the slug's lock. Credits are
 * granted only at creation. Returns the change for saving what belongs to it; the caller executes `accountWrites`.
 */
export async function putOrganization(
  tx: Transaction,
  services: Pick<CatalogServices, "clock" | "encryption">,
  {
    operatorName,
    definition,
    accountWrites,
  }: { operatorName: string; definition: OrganizationDefinition; accountWrites: AccountWrite[] },
): Promise<SavedOrganization> {
  const { slug } = definition;
  const at = services.clock.now();
  const found = await tx.organization.findUnique({ where: { slug }, include: { plan: true } });
  const id = mintOrgId(found?.id ?? newId());
  const actor: OperatorActor = { kind: "operator", orgId: id, name: operatorName };
  const change: Change = { tx, actor, encryption: services.encryption, at, accountWrites };

  if (found) return { id, slug, saved: await updateOrganization(change, found, definition), change };
  await createOrganization(change, definition);
  return { id, slug, saved: "created", change };
}

async function createOrganization(change: Change, definition: OrganizationDefinition): Promise<void> {
  const { tx, actor, at } = change;
  const { slug, name = slug, modelProviders } = definition;
  const id = actor.orgId;
  const { plan } = await tx.organization.create({
    data: {
      id,
      slug,
      name,
      createdAt: at,
      updatedAt: at,
      plan: { create: { ...toPlanData(definition.plan), updatedAt: at } },
      modelProviders: stringifyModelProviders(modelProviders ?? []),
    },
    include: { plan: true },
  });
  const credits = new Decimal(definition.credits ?? 0);
  if (credits.gt(0)) {
    await grantCredits(queryThrough(tx), {
      orgId: id,
      amount: credits,
      ...FIRST_GRANT,
      clock: clockAt(at),
    });
  }
  const facts = { name, plan: plan && describePlan(plan), credits: credits.toFixed() };
  const after: Facts = modelProviders ? { ...facts, modelProviders } : facts;
  const subject = { kind: "organization" as const, id, name };
  await recordAudit(change, { verb: "created", subject, changes: changedFields(null, after) });
}

async function updateOrganization(
  change: Change,
  found: Organization & { plan: Plan | null },
  definition: OrganizationDefinition,
): Promise<Saved> {
  const { tx, actor, at, accountWrites } = change;
  const { id } = found;
  const name = definition.name ?? found.name;
  const planBefore = found.plan && describePlan(found.plan);
  const providers = parseModelProviders(found.modelProviders);
  const before = { name: found.name, plan: planBefore, modelProviders: providers };
  const planAfter = { ...planBefore, ...definition.plan };
  const after = { name, plan: planAfter, modelProviders: definition.modelProviders ?? providers };
  const subject = { kind: "organization" as const, id, name };
  return saveItem(change, { subject, before, after }, async (changed) => {
    if (changed.has("name") || changed.has("modelProviders")) {
      const data = { name, modelProviders: stringifyModelProviders(after.modelProviders), updatedAt: at };
      accountWrites.push({
        orgId: actor.orgId,
        write: () => tx.organization.update({ where: { id }, data }),
      });
    }
    if (changed.has("plan")) {
      const where = { organizationId: id };
      const plan = { ...toPlanData(definition.plan), updatedAt: at };
      await tx.plan.upsert({ where, create: { ...plan, ...where }, update: plan });
    }
  });
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

type PlanRow = Omit<Plan, "organizationId" | "grantedMonth" | "updatedAt">;

/** A plan with every limit, in the order of the definition file. `monthlyCredits` is a decimal. */
export function describePlan(plan: PlanRow) {
  return {
    apiAccess: plan.apiAccess,
    monthlyCredits: plan.monthlyCredits.toFixed(),
    startsPerMinute: plan.startsPerMinute ?? UNLIMITED,
    readsPerMinute: plan.readsPerMinute ?? UNLIMITED,
    concurrency: plan.concurrency,
    retentionDays: plan.retentionDays,
  };
}

// Omitted fields keep their value or, in a new plan, get the schema's default.
function toPlanData(plan: PlanDefinition): Partial<PlanRow> {
  const { monthlyCredits, ...rest } = plan;
  const data: Partial<PlanRow> = {};
  for (const [key, value] of Object.entries(rest))
    if (value !== undefined) Object.assign(data, { [key]: value === UNLIMITED ? null : value });
  if (monthlyCredits !== undefined) data.monthlyCredits = new Decimal(monthlyCredits);
  return data;
}
