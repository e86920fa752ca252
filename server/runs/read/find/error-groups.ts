import { Decimal } from "decimal.js";
import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { isoDate, select } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { errorHeadline } from "./error-headline";
import type { RunFilter } from "./filter";
import { isWalkable, selectRunIds } from "./find";

const MAX_GROUPED_RUNS = 1_000;
// In characters: an error's headline is in them.
const START = 400;
const MAX_NAMES = 5;
const MAX_NEWEST = 3;
const BARS = 20;

const failedRow = z.object({
  id: z.string(),
  error: z.string(),
  name: z.string(),
  at: isoDate,
  credits: z.string(),
});
type FailedRow = z.infer<typeof failedRow>;

export type ErrorGroup = {
  headline: string;
  runs: number;
  /** The beginning of the newest run's error. */
  message: string;
  /** Most frequent first. */
  affected: { name: string; runs: number }[];
  targets: number;
  /** Also before the filter's period, as far as failed runs were read. */
  firstAt: string;
  lastAt: string;
  newest: { id: string; name: string; at: string }[];
  /** Of its runs, without their child runs. */
  credits: string;
  /** Its runs in equal parts of the time from the first to the last run of all groups. */
  bars: number[];
};

export type ErrorGroups = {
  groups: ErrorGroup[];
  runs: number;
  from: string;
  to: string;
  /** No equal error is known to be older than this; null: all failed runs were read. */
  readSince: string | null;
};

// Keeps the status of an HTTP answer.
const withoutNumbers = (headline: string) =>
  headline.replace(/\d+(?:[.:T-]\d+)*Z?/g, (number) => (/^[45]\d\d$/.test(number) ? number : "…"));

/** The newest failed runs of a filter by equal errors. */
export async function groupErrors(
  services: Pick<Services, "clock" | "pool">,
  { orgId }: MemberActor,
  { filter }: { filter: RunFilter },
): Promise<ErrorGroups> {
  const failed: RunFilter = { ...filter, status: ["Failed"] };
  const readNewest = (which: RunFilter) => {
    const page = { limit: MAX_GROUPED_RUNS };
    const ids = selectRunIds(orgId, which, { page, now: services.clock.now() });
    return select(
      services.pool,
      failedRow,
      Prisma.sql`
      SELECT r.id, coalesce(left(r.error_message, ${START}), '') AS error, r.target_name AS name, r.created_at AS at,
        r.credits_used::text AS credits
      FROM (${ids}) page JOIN runs r ON r.id = page.id ORDER BY r.id DESC`,
    );
  };
  const { period, from, to, ...always } = failed;
  const hasTimes = period !== undefined || from !== undefined || to !== undefined;
  // A search of all times could take long.
  const [rows, earlier] = await Promise.all([
    readNewest(failed),
    hasTimes && isWalkable(always) ? readNewest(always) : [],
  ]);
  const first = rows.at(-1)?.at ?? "";
  const last = rows[0]?.at ?? "";
  const known = hasTimes ? earlier : rows;
  const firstOf = new Map<string, string>();
  for (const { error, at } of [...rows, ...known]) {
    const general = withoutNumbers(errorHeadline(error));
    const before = firstOf.get(general);
    if (before === undefined || at < before) firstOf.set(general, at);
  }
  const readsAll = known.length < MAX_GROUPED_RUNS && (!hasTimes || isWalkable(always));
  const view = ({ general, ...group }: Group) => ({
    ...viewGroup(group, { first, last }),
    firstAt: firstOf.get(general) ?? first,
  });
  return {
    groups: groupRows(rows)
      .map(view)
      .sort((a, b) => b.runs - a.runs),
    runs: rows.length,
    from: first,
    to: last,
    readSince: readsAll ? null : [first, known.at(-1)?.at ?? first].sort()[0] || null,
  };
}

type Group = { general: string; headline: string; rows: FailedRow[] };

function groupRows(rows: readonly FailedRow[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const headline = errorHeadline(row.error);
    const general = withoutNumbers(headline);
    const group = groups.get(general) ?? { general, headline, rows: [] };
    groups.set(general, group);
    group.rows.push(row);
    if (group.headline !== headline) group.headline = general;
  }
  return [...groups.values()];
}

function viewGroup(
  { headline, rows }: Omit<Group, "general">,
  { first, last }: { first: string; last: string },
): Omit<ErrorGroup, "firstAt"> {
  const counts = new Map<string, number>();
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
  const affected = [...counts].map(([name, runs]) => ({ name, runs })).sort((a, b) => b.runs - a.runs);
  const from = Date.parse(first);
  const length = Date.parse(last) + 1 - from;
  const bars = Array.from({ length: BARS }, () => 0);
  for (const { at } of rows) {
    const bar = Math.floor(((Date.parse(at) - from) / length) * BARS);
    bars[bar] = (bars[bar] ?? 0) + 1;
  }
  return {
    headline,
    runs: rows.length,
    message: rows[0]?.error ?? "",
    affected: affected.slice(0, MAX_NAMES),
    targets: affected.length,
    lastAt: rows[0]?.at ?? "",
    newest: rows.slice(0, MAX_NEWEST).map(({ id, name, at }) => ({ id, name, at })),
    credits: rows.reduce((sum, { credits }) => sum.plus(credits), new Decimal(0)).toFixed(4),
    bars,
  };
}
