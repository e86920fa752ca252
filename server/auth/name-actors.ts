import { z } from "zod";
import type { OrgId } from "@/server/auth/actor";
import type { Services } from "@/server/services";

const uuid = z.uuid();

/**
 * Resolves actor references from the ledger, versions and keys (`user:<id>`, `api_key:<id>`, `trigger:<id>`,
 * `operator`, `run`, `system`) to names. Keys and triggers are looked up in this organization only; deleted ones are
 * marked as such.
 */
export async function nameActors(
  { db }: Services,
  orgId: OrgId,
  references: string[],
): Promise<(reference: string) => string> {
  const idsOf = (kind: string) => [
    ...new Set(
      references
        .filter((reference) => reference.startsWith(`${kind}:`))
        .map((reference) => reference.slice(kind.length + 1))
        .filter((id) => uuid.safeParse(id).success),
    ),
  ];
  const select = { id: true, name: true } as const;
  const [users, keys, triggers] = await Promise.all([
    findSome(idsOf("user"), (ids) => db.user.findMany({ where: { id: { in: ids } }, select })),
    findSome(idsOf("api_key"), (ids) =>
      db.apiKey.findMany({ where: { organizationId: orgId, id: { in: ids } }, select }),
    ),
    findSome(idsOf("trigger"), (ids) =>
      db.trigger.findMany({ where: { organizationId: orgId, id: { in: ids } }, select }),
    ),
  ]);
  const names = new Map<string, string>([
    ...users.map(({ id, name }) => [`user:${id}`, name] as const),
    ...keys.map(({ id, name }) => [`api_key:${id}`, `key ${name}`] as const),
    ...triggers.map(({ id, name }) => [`trigger:${id}`, `webhook ${name}`] as const),
  ]);
  return (reference) => names.get(reference) ?? (reference.includes(":") ? "a deleted user" : reference);
}

async function findSome<Row>(ids: string[], find: (ids: string[]) => Promise<Row[]>): Promise<Row[]> {
  return ids.length === 0 ? [] : find(ids);
}
