import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery, type Queryable } from "@/server/base/db/statement";

// PostgreSQL reads no JSON with U+0000, which an output schema may have.
const CURRENT = String.raw`
  agents a JOIN agent_versions v ON v.agent_id = a.id AND v.number = a.version
  CROSS JOIN LATERAL (SELECT replace(v.definition, '\u0000', '\u0001')::json AS settings) s
  WHERE a.organization_id = $1 AND a.deleted_at IS NULL`;

const agentRow = z.object({ id: z.string(), slug: z.string(), name: z.string() });

const LIST_MODELS = defineQuery(
  "list-agent-models",
  agentRow.extend({ model: z.string(), fallbackModels: z.array(z.string()) }),
  `SELECT a.id, a.slug, a.name, s.settings ->> 'model' AS model,
     ARRAY(SELECT json_array_elements_text(s.settings -> 'fallbackModels')) AS "fallbackModels"
   FROM ${CURRENT} ORDER BY a.name`,
);

/** The organization's agents with the models of their current version, by name. */
export const listAgentModels = (client: Queryable, orgId: OrgId) => LIST_MODELS(client, [orgId]);

const FIND_ATTACHED = defineQuery(
  "find-agents-with-tool",
  agentRow,
  `SELECT a.id, a.slug, a.name FROM ${CURRENT}
   AND $2 IN (SELECT json_array_elements_text(s.settings -> 'tools')) ORDER BY a.name`,
);

/** The agents whose current version may call the tool of that slug, by name. */
export const findAgentsWithTool = (client: Queryable, orgId: OrgId, toolSlug: string) =>
  FIND_ATTACHED(client, [orgId, toolSlug]);
