import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import type { Services } from "@/server/catalog/services";
import { RUN_KINDS, type RunKind } from "@/server/contract/enums";

/** The agents and tools that an API key may start. Schemas are JSON text; null if there is none. */

const callable = z.object({
  kind: z.enum(RUN_KINDS),
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  parameters: z.string().nullable(),
  outputSchema: z.string().nullable(),
});
export type Callable = z.infer<typeof callable>;

// PostgreSQL reads no JSON with U+0000, which a schema may have.
const JSON_OF = String.raw`replace(v.definition, '\u0000', '\u0001')::json`;

const CALLABLE = `SELECT * FROM (
  SELECT 'agent' AS kind, a.id, a.slug, a.name, '' AS description, NULL AS parameters,
         (${JSON_OF} -> 'outputSchema')::text AS "outputSchema"
  FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.number = a.version
  WHERE a.organization_id = $1 AND a.deleted_at IS NULL AND a.status = 'active'
  UNION ALL
  SELECT 'tool', t.id, t.slug, t.name, t.description, (${JSON_OF} -> 'parameters')::text,
         (${JSON_OF} -> 'outputSchema')::text
  FROM tools t JOIN tool_versions v ON v.tool_id = t.id AND v.number = t.version
  WHERE t.organization_id = $1 AND t.deleted_at IS NULL) AS each
  WHERE (cardinality($2::uuid[]) = 0 OR id = ANY($2))`;

const LIST = defineQuery(
  "list-callable",
  callable,
  `${CALLABLE} AND (kind, slug) > ($3, $4) ORDER BY kind, slug LIMIT $5`,
);
const FIND = defineQuery("find-callable", callable, `${CALLABLE} AND kind = $3 AND slug = $4`);

type Of = Pick<Services, "pool">;

/** In the order of kind and slug, after `after`. */
export function listCallable(
  { pool }: Of,
  { orgId, targetIds }: ApiKeyActor,
  { after, limit }: { after: { kind: RunKind; slug: string } | null; limit: number },
): Promise<Callable[]> {
  return LIST(pool, [orgId, [...targetIds], after?.kind ?? "", after?.slug ?? "", limit]);
}

export async function findCallable(
  { pool }: Of,
  { orgId, targetIds }: ApiKeyActor,
  { kind, slug }: { kind: RunKind; slug: string },
): Promise<Callable | undefined> {
  const [found] = await FIND(pool, [orgId, [...targetIds], kind, slug]);
  return found;
}
