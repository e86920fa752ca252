import type { OrgId } from "@/server/auth/actor";
import type { Services } from "@/server/services";
import { inUse, NEWEST } from "./definition-rows";

export type FoundTool = { kind: "tool"; id: string; name: string };

/**
 * The organization's tools whose current definition, as JSON, fits, by name. Every one that fits contains `text`, which
 * narrows the definitions to read; `_` and `%` in it match other characters.
 */
export async function findTools(
  { db }: Pick<Services, "db">,
  orgId: OrgId,
  { text, fits }: { text: string; fits: (definition: string) => boolean },
): Promise<FoundTool[]> {
  const tools = await db.tool.findMany({
    where: { ...inUse({ orgId }), versions: { some: { definition: { contains: text } } } },
    orderBy: { name: "asc" },
    select: { id: true, name: true, versions: { ...NEWEST, select: { definition: true } } },
  });
  return tools
    .filter(({ versions: [current] }) => fits(current?.definition ?? "{}"))
    .map(({ id, name }) => ({ kind: "tool", id, name }));
}
