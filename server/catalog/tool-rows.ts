import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import type { RunKind } from "@/server/contract/enums";
import { findCallsOf } from "./stored-tool";

type FoundTool = { kind: "tool"; id: string; slug: string; name: string };
export type ToolLine = Omit<FoundTool, "slug">;

export const toolLine = ({ kind, id, name }: FoundTool): ToolLine => ({ kind, id, name });

const FIND_WITH_TEXT = defineQuery(
  "find-tools-with-text",
  z.object({ id: z.string(), slug: z.string(), name: z.string(), definition: z.string() }),
  `SELECT t.id, t.slug, t.name, v.definition FROM tools t
   JOIN tool_versions v ON v.tool_id = t.id AND v.number = t.version
   WHERE t.organization_id = $1::uuid AND t.deleted_at IS NULL AND strpos(v.definition, $2) > 0 ORDER BY t.name`,
);

/** Finds the tools whose current definition, as JSON, contains `text` and fits, by name. */
export async function findTools(
  client: Queryable,
  orgId: OrgId,
  { text, fits }: { text: string; fits: (definition: string) => boolean },
): Promise<FoundTool[]> {
  const found = await FIND_WITH_TEXT(client, [orgId, text]);
  return found
    .filter(({ definition }) => fits(definition))
    .map(({ id, slug, name }) => ({ kind: "tool", id, slug, name }));
}

/** The other tools whose current definition has a step that calls the agent or tool, by name. */
export async function findCallingTools(
  client: Queryable,
  orgId: OrgId,
  { kind, id, slug }: { kind: RunKind; id: string; slug: string },
): Promise<FoundTool[]> {
  const uses = `run_${kind}`;
  const found = await findTools(client, orgId, {
    text: `"${uses}"`,
    fits: (definition) => findCallsOf(uses, definition).some((call) => call.with[kind] === slug),
  });
  return found.filter((tool) => tool.id !== id);
}
