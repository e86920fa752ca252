import { MAX_FOUND_IDS } from "@/server/runs/read/enums";
import type { RunSummary } from "@/server/runs/read/list";

/**
 * Runs that match the list's filter but are not shown until the reader asks for them. Ids are UUIDs v7, so their
 * order is the list's.
 */

/** The most ids that fit into the URL of one query. */
export const MAX_ASKED = 80;
/**
 * A complete query may search all runs. Notifications may be lost, and a run may match a duration filter without one.
 */
const TRUST_MS = 60_000;

type View = { shown: readonly Pick<RunSummary, "id">[]; hasOlder: boolean };

/** Null if any id can belong to the visible part of the list. */
function oldestRelevantId({ shown, hasOlder }: View): string | null {
  return hasOlder ? (shown.at(-1)?.id ?? null) : null;
}

function missingIn(view: View, ids: Iterable<string>): string[] {
  const oldest = oldestRelevantId(view);
  const known = new Set(view.shown.map((run) => run.id));
  return [...ids].filter((id) => !known.has(id) && (oldest === null || id > oldest));
}

type Question = { about: "some"; ids: string[] } | { about: "all"; after: string | null; limit: number };

/**
 * The query after these runs changed; an empty list: unknown ones. `sinceAllMs`: the time since the last complete
 * query. Null if no answer could matter.
 */
export function questionAfter(changed: readonly string[], view: View, sinceAllMs: number): Question | null {
  const ids = missingIn(view, changed);
  if (changed.length === 0 || ids.length > MAX_ASKED || sinceAllMs >= TRUST_MS) {
    return {
      about: "all",
      after: oldestRelevantId(view),
      limit: Math.min(MAX_FOUND_IDS, view.shown.length + 100),
    };
  }
  return ids.length > 0 ? { about: "some", ids } : null;
}

/** The new runs after a response: the queried runs that match. Some may be visible already. */
export function waitingAfter(
  waiting: ReadonlySet<string>,
  question: Question,
  fitting: readonly string[],
): ReadonlySet<string> {
  if (question.about === "all") return new Set(fitting);
  const asked = new Set(question.ids);
  return new Set([...[...waiting].filter((id) => !asked.has(id)), ...fitting]);
}

/** Those that are not visible but belong to the visible part, newest first. */
export function stillWaiting(waiting: ReadonlySet<string>, view: View): string[] {
  return missingIn(view, waiting).sort().reverse();
}

/**
 * The number of loaded pages that must be fetched again to show an id. The others load when the reader scrolls there.
 */
export function pagesUpTo(
  id: string,
  pages: readonly { items: readonly Pick<RunSummary, "id">[] }[],
): number {
  const holds = pages.findIndex(({ items }) => (items.at(-1)?.id ?? "") < id);
  return holds < 0 ? pages.length : holds + 1;
}

/** Splits ids into parts that each fit into one request, in order. */
export function chunk<Item>(items: readonly Item[], most: number): Item[][] {
  const count = Math.ceil(items.length / most);
  return Array.from({ length: count }, (_, n) => items.slice(n * most, (n + 1) * most));
}
