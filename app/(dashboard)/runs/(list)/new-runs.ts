import type { RunSummary } from "@/server/runs/read/list";

/**
 * Runs that fit a list's filter and do not stand in it yet: new ones, and older ones that came to fit, by failing, say.
 * They wait until the reader asks for them. Ids are UUIDs v7, so that their order is the list's.
 */

/** How many ids go into one question, whose address would get too long for more. */
export const MOST_ASKED = 80;
/** How many of the newest ids are looked through when it is not known which runs changed. */
const MOST_COMPARED = 1_000;
/** How long rings alone are trusted: some may be lost, and a run may come to fit by the time it takes. */
const TRUST_MS = 10_000;

/** What the reader sees: the rows, and whether older ones can be loaded. */
export type View = { shown: readonly Pick<RunSummary, "id">[]; hasOlder: boolean };

/** The id that all that could wait is newer than; null when that is everything. */
function reachOf({ shown, hasOlder }: View): string | null {
  return hasOlder ? (shown.at(-1)?.id ?? null) : null;
}

export type Question =
  | { about: "some"; ids: string[] }
  | { about: "all"; after: string | null; limit: number };

/**
 * What to ask after these runs changed (none: some did, unknown which), when all were asked about so long ago; null when no
 * answer could matter.
 */
export function questionAfter(changed: readonly string[], view: View, sinceAllMs: number): Question | null {
  const reach = reachOf(view);
  const known = new Set(view.shown.map((run) => run.id));
  const ids = changed.filter((id) => !known.has(id) && (reach === null || id > reach));
  if (changed.length === 0 || ids.length > MOST_ASKED || sinceAllMs >= TRUST_MS) {
    return { about: "all", after: reach, limit: Math.min(MOST_COMPARED, view.shown.length + 100) };
  }
  return ids.length > 0 ? { about: "some", ids } : null;
}

/** Who waits after the answer: of those asked about, the ones that fit; they may be shown already. */
export function waitingAfter(
  waiting: ReadonlySet<string>,
  question: Question,
  fitting: readonly string[],
): ReadonlySet<string> {
  if (question.about === "all") return new Set(fitting);
  const asked = new Set(question.ids);
  return new Set([...[...waiting].filter((id) => !asked.has(id)), ...fitting]);
}

/** Those of them that are not shown and would be, newest first. */
export function stillWaiting(waiting: ReadonlySet<string>, view: View): string[] {
  const reach = reachOf(view);
  const known = new Set(view.shown.map((run) => run.id));
  return [...waiting]
    .filter((id) => !known.has(id) && (reach === null || id > reach))
    .sort()
    .reverse();
}

/** How many of the pages that are loaded must be read anew to show an id; the others are loaded when the reader gets there. */
export function pagesUpTo(
  id: string,
  pages: readonly { items: readonly Pick<RunSummary, "id">[] }[],
): number {
  const holds = pages.findIndex(({ items }) => (items.at(-1)?.id ?? "") < id);
  return holds < 0 ? pages.length : holds + 1;
}
