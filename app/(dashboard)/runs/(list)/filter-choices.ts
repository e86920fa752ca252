import type { FilterTargets } from "@/server/catalog/overview";
import { RUN_PERIODS, RUN_STATUSES, SOURCE_CHOICES } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/filter";
import type { Findable, Group } from "../../_palette/rank";
import { findItems } from "../../_palette/rank";
import { PERIOD_LABELS, SOURCE_LABELS, sizeLabels, timeLabels } from "./filter-labels";
import { readTyped } from "./read-typed";

/** One thing that the list can be narrowed by: what it says, and the filter with it, or without it when it is chosen already. */
export type Choice = Findable & { id: string; chosen: boolean; next: RunFilter };

/**
 * What the filter can be changed to, by condition; with a text what answers to it, and what it says itself: `> 10 s`,
 * `500 tokens`, `0.5 credits`, `2026-11-20`.
 */
export function choicesFor(
  filter: RunFilter,
  targets: FilterTargets,
  text: string,
  timeZone: string,
): Group<Choice>[] {
  const typed = readTyped(text).map(
    (change): Choice => ({
      id: JSON.stringify(change),
      label: [...sizeLabels(change), ...timeLabels(change, timeZone)].map(({ words }) => words).join(", "),
      chosen: false,
      next: withTime(filter, change),
    }),
  );
  const found = findItems(groupsFor(filter, targets), text);
  return typed.length > 0 ? [{ name: "As typed", items: typed }, ...found] : found;
}

function groupsFor(filter: RunFilter, targets: FilterTargets): Group<Choice>[] {
  /** The values of one field, of which one can be chosen. */
  const group = <Field extends keyof RunFilter>(
    name: string,
    field: Field,
    values: readonly { value: NonNullable<RunFilter[Field]>; label: string }[],
  ): Group<Choice> => ({
    name,
    items: values.map(({ value, label }) => {
      const chosen = filter[field] === value;
      return {
        id: `${field} ${value}`,
        label,
        words: name,
        chosen,
        next: chosen ? without(filter, field) : withTime(filter, { [field]: value }),
      };
    }),
  });
  const named = (
    name: string,
    field: "agentId" | "toolId" | "triggerId" | "apiKeyId" | "userId",
    list: FilterTargets["agents"],
  ) =>
    group(
      name,
      field,
      list.map(({ id, name: label }) => ({ value: id, label })),
    );
  const words = <Word extends string>(list: readonly Word[], of: Record<Word, string>) =>
    list.map((value) => ({ value, label: of[value] }));
  const sizes = (name: string, changes: RunFilter[]): Group<Choice> => ({
    name,
    items: changes.flatMap((change) =>
      sizeLabels(change).map(({ field, words: label }) => {
        const chosen = filter[field] === change[field];
        return {
          id: label,
          label,
          words: name,
          chosen,
          next: chosen ? without(filter, field) : { ...filter, ...change },
        };
      }),
    ),
  });
  return [
    {
      name: "Status",
      items: RUN_STATUSES.map((status) => {
        const others = (filter.status ?? []).filter((each) => each !== status);
        const chosen = others.length < (filter.status?.length ?? 0);
        const next = chosen ? others : [...others, status];
        return {
          id: status,
          label: status,
          words: "Status",
          chosen,
          next: next.length > 0 ? { ...filter, status: next } : without(filter, "status"),
        };
      }),
    },
    group("Created", "period", words(RUN_PERIODS, PERIOD_LABELS)),
    group("Kind", "kind", words(["agent", "tool"], { agent: "agent runs", tool: "tool runs" })),
    named("Agent", "agentId", targets.agents),
    named("Tool", "toolId", targets.tools),
    group("Started by", "source", words(SOURCE_CHOICES, SOURCE_LABELS)),
    named("Trigger", "triggerId", targets.triggers),
    named("API key", "apiKeyId", targets.keys),
    named("Person", "userId", targets.people),
    sizes(
      "Duration",
      [1_000, 10_000, 60_000, 600_000].map((minDurationMs) => ({ minDurationMs })),
    ),
    sizes(
      "Tokens",
      [1_000, 10_000, 100_000].map((minTokens) => ({ minTokens })),
    ),
    sizes(
      "Credits",
      ["0.1", "1", "10"].map((minCredits) => ({ minCredits })),
    ),
  ];
}

export function without(filter: RunFilter, field: keyof RunFilter): RunFilter {
  const { [field]: _, ...rest } = filter;
  return rest;
}

/** A time since now and one since a moment are two answers to one question: the later answer counts. */
function withTime(filter: RunFilter, change: RunFilter): RunFilter {
  if (change.period) {
    const { from: _, to: __, ...rest } = filter;
    return { ...rest, ...change };
  }
  if (change.from || change.to) {
    const { period: _, ...rest } = filter;
    return { ...rest, ...change };
  }
  return { ...filter, ...change };
}
