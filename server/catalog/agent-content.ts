import { readSettings } from "@/server/agent/definition";
import type { OrgId } from "@/server/auth/actor";
import type { Transaction } from "@/server/db/client";
import type { AgentVersion } from "@/server/db/generated/client";
import type { AgentDefinition } from "./definitions";

/** The slugs of the organization's tools by id, also of archived ones. */
export async function readToolSlugs(
  db: Pick<Transaction, "tool">,
  orgId: OrgId,
  ids: string[],
): Promise<Map<string, string>> {
  const tools = await db.tool.findMany({
    where: { organizationId: orgId, id: { in: ids } },
    select: { id: true, slug: true },
  });
  return new Map(tools.map(({ id, slug }) => [id, slug]));
}

/** A stored version as the versioned fields of a definition. */
export function agentContent(
  version: AgentVersion,
  toolSlugs: ReadonlyMap<string, string>,
): Omit<AgentDefinition, "slug" | "name" | "status"> {
  const { model, systemPrompt, maxSteps, functions, toolIds, settings, maxCredits, deadlineSeconds } =
    version;
  return {
    model,
    systemPrompt,
    maxSteps,
    functions,
    // In the order in which the model is offered them.
    tools: toolIds.flatMap((id) => toolSlugs.get(id) ?? []),
    ...readSettings(settings),
    maxCredits: maxCredits?.toFixed() ?? null,
    deadlineSeconds,
  };
}
