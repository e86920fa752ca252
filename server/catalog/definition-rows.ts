import type { OrgId } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import type { RunKind } from "@/server/contract/enums";

export type DefinitionRef = { kind: RunKind; id: string };

export const NEWEST = { orderBy: { number: "desc" }, take: 1 } as const;

export const newestOr = (number: number | undefined) => ({
  where: number === undefined ? {} : { number },
  ...NEWEST,
});

export const inUse = ({ orgId }: { orgId: OrgId }) => ({ organizationId: orgId, deletedAt: null });

type Query = {
  where: {
    organizationId: OrgId;
    id?: string | { in: string[] };
    slug?: string | { in: string[] };
    deletedAt?: null | { not: null };
  };
  orderBy?: { deletedAt: "desc" };
  take?: number;
};

export function findDefinitions(
  db: Pick<Transaction, "agent" | "tool">,
  kind: DefinitionRef["kind"],
  query: Query,
) {
  const select = { id: true, slug: true, name: true, version: true, deletedAt: true } as const;
  return kind === "agent" ? db.agent.findMany({ ...query, select }) : db.tool.findMany({ ...query, select });
}

/** Archives (`deletedAt` is the time) or restores (null) an agent, tool, trigger or schedule; an archived schedule has no next time. */
export async function setDeleted(
  tx: Transaction,
  { kind, id }: { kind: DefinitionRef["kind"] | "trigger" | "schedule"; id: string },
  { deletedAt, at }: { deletedAt: Date | null; at: Date },
): Promise<void> {
  const change = { where: { id }, data: { deletedAt, updatedAt: at } };
  if (kind === "agent") await tx.agent.update(change);
  else if (kind === "tool") await tx.tool.update(change);
  else if (kind === "trigger") await tx.trigger.update(change);
  else await tx.schedule.update({ ...change, data: { ...change.data, nextAt: null } });
}
