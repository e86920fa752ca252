import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { defineQuery, select } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { anyCase } from "@/server/base/json/any-case";
import { MIB } from "@/server/contract/sizes";
import { SEARCHED_START } from "@/server/runs/read/enums";
import type { Services } from "@/server/runs/services";

// Runs with more bytes of text are searched only in the start of each text.
const SEARCHED_ENTIRELY_UP_TO = 32 * MIB;

const READ_SIZE = defineQuery(
  "read-size-of-steps",
  z.object({ bytes: z.number() }),
  `SELECT (SELECT coalesce(sum(octet_length(input) + coalesce(octet_length(output), 0)), 0)::float8
           FROM steps s WHERE s.run_id = r.id) AS bytes
   FROM runs r WHERE r.id = $1 AND organization_id = $2`,
);

const match = z.object({ id: z.string() });

/** Searches the inputs and outputs of a run's steps and model calls, ignoring case. Throws not_found. */
export async function searchSteps(
  services: Pick<Services, "pool">,
  actor: MemberActor,
  { runId, text }: { runId: string; text: string },
) {
  const [size] = await READ_SIZE(services.pool, [runId, actor.orgId]);
  if (!size) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  const startsOnly = size.bytes > SEARCHED_ENTIRELY_UP_TO;
  const pattern = spellings(text).map(anyCase).join("|");
  const has = (column: Prisma.Sql) =>
    Prisma.sql`${startsOnly ? Prisma.sql`left(${column}, ${SEARCHED_START})` : column} ~ ${pattern}`;
  const ofRun = Prisma.sql`run_id = ${runId}::uuid AND organization_id = ${actor.orgId}::uuid`;
  const matches = await select(
    services.pool,
    match,
    Prisma.sql`
    SELECT id FROM steps WHERE ${ofRun}
      AND (${has(Prisma.sql`input`)} OR ${has(Prisma.sql`output`)} OR ${has(Prisma.sql`reasoning`)}
        OR ${has(Prisma.sql`error_message`)})
    UNION ALL
    SELECT id FROM model_calls WHERE ${ofRun}
      AND (${has(Prisma.sql`content`)} OR ${has(Prisma.sql`reasoning`)} OR ${has(Prisma.sql`tool_calls`)}
        OR ${has(Prisma.sql`error_message`)})`,
  );
  return {
    ids: matches.map(({ id }) => id),
    startsOnly,
  };
}

function spellings(text: string): string[] {
  return [...new Set([text, JSON.stringify(text).slice(1, -1)])];
}
