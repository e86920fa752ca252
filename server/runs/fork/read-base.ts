import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { MAX_CHANGED_MESSAGE } from "./changes";
import { readOrigin } from "./read-origin";

const READ_VERSIONS = defineQuery(
  "read-fork-versions",
  z.object({ number: z.number() }),
  `SELECT v.number FROM tool_versions v JOIN tools t ON t.id = v.tool_id
   WHERE t.id = $1 AND t.organization_id = $2 AND t.deleted_at IS NULL ORDER BY v.number DESC LIMIT 100`,
);

/** The settings of an ended run that a fork can change. Throws `not_found` and `conflict`. */
export async function readForkBase(
  services: Pick<Services, "pool">,
  actor: MemberActor,
  { runId }: { runId: string },
) {
  const { kind, targetId, version, input, configuration } = await readOrigin(services, actor, runId);
  const versions = kind === "tool" ? await READ_VERSIONS(services.pool, [targetId, actor.orgId]) : [];
  const isAgent = configuration.kind === "agent";
  return {
    model: isAgent ? configuration.model : null,
    systemPrompt: isAgent ? configuration.systemPrompt : null,
    userMessage: isAgent && input.length <= MAX_CHANGED_MESSAGE ? input : null,
    toolVersion: version,
    versions: versions.map(({ number }) => number),
  };
}
