import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { Prisma } from "@/server/db/generated/client";
import { AppError } from "@/server/errors";
import { anyCase } from "@/server/json/any-case";
import { MIB } from "@/server/limits/sizes";
import type { Services } from "@/server/services";

/** Runs with more bytes of text are searched only in the start of each text. */
const SEARCHED_ENTIRELY_UP_TO = 32 * MIB;
/** Characters of it. */
const START = 65_536;

/** Searches the inputs and outputs of a run's steps and model calls, ignoring case. Throws not_found. */
export async function searchSteps(
  services: Services,
  actor: MemberActor,
  { runId, text }: { runId: string; text: string },
) {
  const inOrganization = Prisma.sql`organization_id = ${actor.orgId}::uuid`;
  const sized = await services.db.$queryRaw`
    SELECT (SELECT coalesce(sum(octet_length(input) + coalesce(octet_length(output), 0)), 0)::float8
            FROM steps s WHERE s.run_id = r.id) AS bytes
    FROM runs r WHERE r.id = ${runId}::uuid AND ${inOrganization}`;
  const [size] = z.array(z.object({ bytes: z.number() })).parse(sized);
  if (!size) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  const startsOnly = size.bytes > SEARCHED_ENTIRELY_UP_TO;
  const pattern = spellings(text).map(anyCase).join("|");
  const has = (column: Prisma.Sql) =>
    Prisma.sql`${startsOnly ? Prisma.sql`left(${column}, ${START})` : column} ~ ${pattern}`;
  const found = await services.db.$queryRaw`
    SELECT id FROM steps WHERE run_id = ${runId}::uuid AND ${inOrganization}
      AND (${has(Prisma.sql`input`)} OR ${has(Prisma.sql`output`)} OR ${has(Prisma.sql`reasoning`)}
        OR ${has(Prisma.sql`error_message`)})
    UNION ALL
    SELECT id FROM model_calls WHERE run_id = ${runId}::uuid AND ${inOrganization}
      AND (${has(Prisma.sql`content`)} OR ${has(Prisma.sql`tool_calls`)} OR ${has(Prisma.sql`error_message`)})`;
  const lines = z.array(z.object({ id: z.string() })).parse(found);
  return {
    /** The steps and model calls whose texts match. */
    ids: lines.map(({ id }) => id),
    /** Whether long texts were searched only in their start. */
    startsOnly,
  };
}

/** A text as it is, and as escaped inside JSON. */
function spellings(text: string): string[] {
  return [...new Set([text, JSON.stringify(text).slice(1, -1)])];
}
