import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { isoDate, select } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { errorHeadline } from "./error-headline";
import type { RunFilter } from "./filter";
import { selectRunIds } from "./find";

const MAX_GROUPED_RUNS = 1_000;
/** In characters: an error's headline is in them. */
const START = 400;
const MAX_NAMES = 3;

const failedRow = z.object({
  id: z.string(),
  error: z.string(),
  name: z.string(),
  at: isoDate,
});

export type ErrorGroup = {
  headline: string;
  runs: number;
  /** Most frequent first. */
  names: string[];
  targets: number;
  firstAt: string;
  lastAt: string;
  newestRunId: string;
};

/** Keeps the status of an HTTP answer. */
const withoutNumbers = (headline: string) =>
  headline.replace(/\d+(?:[.:T-]\d+)*Z?/g, (number) => (/^[45]\d\d$/.test(number) ? number : "…"));

export async function groupErrors(
  services: Pick<Services, "clock" | "pool">,
  { orgId }: MemberActor,
  { filter }: { filter: RunFilter },
): Promise<{ groups: ErrorGroup[]; runs: number }> {
  const failed: RunFilter = { ...filter, status: ["Failed"] };
  const ids = selectRunIds(orgId, failed, { page: { limit: MAX_GROUPED_RUNS }, now: services.clock.now() });
  const rows = await select(
    services.pool,
    failedRow,
    Prisma.sql`
    SELECT r.id, coalesce(left(r.error_message, ${START}), '') AS error, r.target_name AS name, r.created_at AS at
    FROM (${ids}) page JOIN runs r ON r.id = page.id ORDER BY r.id DESC`,
  );
  const groups = new Map<string, { headline: string; rows: typeof rows }>();
  for (const row of rows) {
    const headline = errorHeadline(row.error);
    const general = withoutNumbers(headline);
    const group = groups.get(general) ?? { headline, rows: [] };
    groups.set(general, group);
    group.rows.push(row);
    if (group.headline !== headline) group.headline = general;
  }
  return { groups: [...groups.values()].map(viewGroup).sort((a, b) => b.runs - a.runs), runs: rows.length };
}

function viewGroup({ headline, rows }: { headline: string; rows: z.infer<typeof failedRow>[] }): ErrorGroup {
  const counts = new Map<string, number>();
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return {
    headline,
    runs: rows.length,
    names: names.slice(0, MAX_NAMES),
    targets: names.length,
    firstAt: rows.at(-1)?.at ?? "",
    lastAt: rows[0]?.at ?? "",
    newestRunId: rows[0]?.id ?? "",
  };
}
