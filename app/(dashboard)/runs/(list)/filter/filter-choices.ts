import { type Findable, findItems, type Group } from "@/app/_ui/rank";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { CONDITIONS, describeFilter, type LabelContext } from "../../conditions";
import { readTyped } from "./read-typed";

/** A change of whichever filter is current when it is applied; the shown one may be older. */
export type FilterChange = (filter: RunFilter) => RunFilter;

/** One condition. `change` removes it if it is shown as chosen, and otherwise adds it. */
export type Choice = Findable & { id: string; chosen: boolean; change: FilterChange };

/**
 * The possible changes of the filter by condition: those that match the text, and the meaning of the text itself,
 * such as `> 10 s`, `0.5 credits` or `2026-11-20`.
 */
export function choicesFor(
  filter: RunFilter,
  { text, ...context }: LabelContext & { text: string },
): Group<Choice>[] {
  const typed = readTyped(text, context.timeZone).map((part): Choice => {
    const label = describeFilter(part, context);
    return { id: JSON.stringify(part), label, chosen: false, change: adding(part) };
  });
  const names = [...new Set(CONDITIONS.map(({ group }) => group))];
  const groups = names.map((name) => ({
    name,
    items: CONDITIONS.filter(({ group }) => group === name).flatMap(({ field, choices, describe }) =>
      choices(context.targets).map((part): Choice => {
        const item = {
          id: `${field} ${part[field]}`,
          label: describe(part, context),
          keywords: name,
        };
        const [status] = part.status ?? [];
        if (status) return { ...item, ...choiceOfStatus(filter, status) };
        const chosen = filter[field] === part[field];
        return { ...item, chosen, change: chosen ? (latest) => without(latest, field) : adding(part) };
      }),
    ),
  }));
  const found = findItems(groups, text);
  const offered = new Set(found.flatMap(({ items }) => items.map(({ label }) => label)));
  const others = typed.filter(({ label }) => !offered.has(label));
  return others.length > 0 ? [{ name: "As typed", items: others }, ...found] : found;
}

function choiceOfStatus(
  filter: RunFilter,
  status: NonNullable<RunFilter["status"]>[number],
): Pick<Choice, "chosen" | "change"> {
  const chosen = filter.status?.includes(status) ?? false;
  return {
    chosen,
    change: (latest) => {
      const others = (latest.status ?? []).filter((each) => each !== status);
      const next = chosen ? others : [...others, status];
      return next.length > 0 ? { ...latest, status: next } : without(latest, "status");
    },
  };
}

export function without(filter: RunFilter, ...fields: (keyof RunFilter)[]): RunFilter {
  const rest = { ...filter };
  for (const field of fields) delete rest[field];
  return rest;
}

const adding = (part: RunFilter) => (filter: RunFilter) => {
  const replaced = part.period ? without(filter, "from", "to") : filter;
  const next = { ...(part.from || part.to ? without(filter, "period") : replaced), ...part };
  return part.metadata ? { ...next, metadata: { ...filter.metadata, ...part.metadata } } : next;
};
