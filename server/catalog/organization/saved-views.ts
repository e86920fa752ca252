import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import { defineQuery, queryThrough } from "@/server/base/db/statement";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { rejection } from "@/server/base/issues";
import type { Services } from "@/server/catalog/services";
import { idInput } from "@/server/contract/ids";
import { MAX_VIEW_NAME_LENGTH } from "@/server/contract/limits";

/** Of one person in one organization. */
const MAX_VIEWS = 50;

const name = z
  .string()
  .trim()
  .min(1, "is missing")
  .max(MAX_VIEW_NAME_LENGTH, `has more than ${MAX_VIEW_NAME_LENGTH} characters`);

/** `query`: the query string of the runs list. `columns`: as the list writes them; null: the usual ones. */
export const newView = z.strictObject({
  name,
  query: z
    .string()
    .max(2_000, "is too long")
    .regex(/^(\?[^#\s]*)?$/, "is not a query string"),
  columns: z.string().max(200).nullable(),
});
export const viewName = z.strictObject({ id: idInput(), name });

/** A person's named filter and columns of the runs list. Other people do not see it. */
export type SavedView = Awaited<ReturnType<typeof listViews>>[number];

const ownedBy = ({ orgId, userId }: MemberActor) => ({ organizationId: orgId, userId });

/** In the order in which the person saved them. */
export function listViews({ db }: Pick<Services, "db">, actor: MemberActor) {
  return db.savedView.findMany({
    where: ownedBy(actor),
    orderBy: { id: "asc" },
    select: { id: true, name: true, query: true, columns: true },
  });
}

/** Throws `invalid_request` if the name is taken or there are too many. */
export function saveView(
  services: Pick<Services, "clock" | "db">,
  actor: MemberActor,
  view: z.output<typeof newView>,
): Promise<{ id: string }> {
  return changeViews(services, actor, async (tx) => {
    await requireFreeName(tx, actor, view);
    if ((await tx.savedView.count({ where: ownedBy(actor) })) >= MAX_VIEWS) {
      throw new AppError("invalid_request", `You have ${MAX_VIEWS} views, the most. Delete one first.`);
    }
    const data = { id: newId(), ...ownedBy(actor), ...view, createdAt: services.clock.now() };
    return tx.savedView.create({ data, select: { id: true } });
  });
}

export function renameView(
  services: Pick<Services, "db">,
  actor: MemberActor,
  view: z.output<typeof viewName>,
): Promise<void> {
  return changeViews(services, actor, async (tx) => {
    await requireFreeName(tx, actor, view);
    const where = { id: view.id, ...ownedBy(actor) };
    const { count } = await tx.savedView.updateMany({ where, data: { name: view.name } });
    if (count === 0) throw new AppError("not_found", "View not found. It may have been deleted.");
  });
}

export async function removeView(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { id }: { id: string },
): Promise<void> {
  const { count } = await db.savedView.deleteMany({ where: { id, ...ownedBy(actor) } });
  if (count === 0) throw new AppError("not_found", "View not found. It may have been deleted.");
}

const LOCK_MEMBER = defineQuery(
  "lock-member",
  z.object({ id: z.string() }),
  "SELECT id FROM members WHERE organization_id = $1::uuid AND user_id = $2::uuid FOR UPDATE",
);

// Changes of one person's views exclude each other, so that there are never too many.
function changeViews<Result>(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return transactPrisma(db, "short", async (tx) => {
    await LOCK_MEMBER(queryThrough(tx), [actor.orgId, actor.userId]);
    return work(tx);
  });
}

async function requireFreeName(
  tx: Transaction,
  actor: MemberActor,
  view: { id?: string; name: string },
): Promise<void> {
  const found = await tx.savedView.findFirst({ where: { ...ownedBy(actor), name: view.name } });
  if (found && found.id !== view.id) {
    throw rejection([{ path: "/name", message: `is taken: you have a view "${view.name}"` }]);
  }
}
