import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import type { Services } from "@/server/base/services";

const uuid = z.uuid();

/**
 * Resolves actor references (`user:<id>`, `api_key:<id>`, `trigger:<id>`, `schedule:<id>`, `operator`, `run`, `system`) to names.
 * Keys, triggers and schedules are looked up in this organization only; deleted ones are marked.
 */
export async function nameActors(
  { db }: Pick<Services, "db">,
  organizationId: OrgId,
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
  const find = <Row>(kind: string, query: (where: { id: { in: string[] } }) => Promise<Row[]>) => {
    const ids = idsOf(kind);
    return ids.length === 0 ? [] : query({ id: { in: ids } });
  };
  const select = { id: true, name: true } as const;
  const [users, keys, triggers, schedules] = await Promise.all([
    find("user", (where) => db.user.findMany({ where, select })),
    find("api_key", (where) => db.apiKey.findMany({ where: { ...where, organizationId }, select })),
    find("trigger", (where) => db.trigger.findMany({ where: { ...where, organizationId }, select })),
    find("schedule", (where) => db.schedule.findMany({ where: { ...where, organizationId }, select })),
  ]);
  const names = new Map<string, string>([
    ...users.map(({ id, name }) => [`user:${id}`, name] as const),
    ...keys.map(({ id, name }) => [`api_key:${id}`, `key ${name}`] as const),
    ...triggers.map(({ id, name }) => [`trigger:${id}`, `webhook ${name}`] as const),
    ...schedules.map(({ id, name }) => [`schedule:${id}`, `schedule ${name}`] as const),
  ]);
  return (reference) => names.get(reference) ?? (reference.includes(":") ? "a deleted user" : reference);
}
