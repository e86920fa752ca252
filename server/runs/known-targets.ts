import type { OrgId } from "@/server/auth/actor";
import type { Transaction } from "@/server/db/client";
import { Prisma } from "@/server/db/generated/client";

/** How many names a message lists. */
const MAX_NAMES = 20;

type Row = { slug: string; total: number };

/**
 * Names the organization's agents or tools for a message about an unknown one: `Known tools: adder, weather and 3 more`.
 * `declared`: slugs, each once, of those that exist when the caller's change is saved.
 */
export async function describeKnownTargets(
  db: Pick<Transaction, "$queryRaw">,
  orgId: OrgId,
  { kind, declared = [] }: { kind: "agent" | "tool"; declared?: readonly string[] },
): Promise<string> {
  const others = [...declared];
  const table = Prisma.raw(kind === "agent" ? "agents" : "tools");
  const rows = await db.$queryRaw<Row[]>`
    SELECT slug, count(*) OVER ()::int AS total FROM ${table}
    WHERE organization_id = ${orgId}::uuid AND deleted_at IS NULL AND slug <> ALL(${others}::text[])
    ORDER BY slug LIMIT ${MAX_NAMES}`;
  const names = [...rows.map(({ slug }) => slug), ...others].sort().slice(0, MAX_NAMES);
  const more = (rows[0]?.total ?? 0) + others.length - names.length;
  return `Known ${kind}s: ${names.join(", ") || "none"}${more > 0 ? ` and ${more} more` : ""}`;
}
