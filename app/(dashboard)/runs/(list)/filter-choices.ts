import type { FilterTargets } from "@/server/catalog/overview";
import { RUN_KINDS, RUN_STATUSES } from "@/server/contract/enums";
import { RUN_PERIODS, SOURCE_CHOICES } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/filter";
import type { Findable, Group } from "../../_palette/rank";
import { findItems } from "../../_palette/rank";
import { PERIOD_LABELS, SOURCE_LABELS, sizeLabels, timeLabels } from "./filter-labels";
import { readTyped } from "./read-typed";

/** A change of whichever filter is current when it is applied; the shown one may be older. */
export type FilterChange = (filter: RunFilter) => RunFilter;

/** One condition. `change` removes it if it is shown as chosen, and otherwise adds it. */
export type Choice = Findable & { id: string; chosen: boolean; change: FilterChange };

/**
 * The possible changes of the filter, grouped by condition. With a text: the matching ones, and what the text itself
 * means, such as `> 10 s`, `500 tokens`, `0.5 credits` or `2026-11-20`.
 */
export function choicesFor(
  filter: RunFilter,
  { targets, text, timeZone }: { targets: FilterTargets; text: string; timeZone: string },
): Group<Choice>[] {
  const typed = readTyped(text).map(
    (part): Choice => ({
      id: JSON.stringify(part),
      label: [...sizeLabels(part), ...timeLabels(part, timeZone)].map(({ text }) => text).join(", "),
      chosen: false,
      change: adding(part),
    }),
  );
  const found = findItems(groupsFor(filter, targets), text);
  return typed.length > 0 ? [{ name: "As typed", items: typed }, ...found] : found;
}

function groupsFor(filter: RunFilter, targets: FilterTargets): Group<Choice>[] {
  /** The values of one field. One of them can be selected. */
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
        keywords: name,
        chosen,
        change: chosen ? removing(field) : adding({ [field]: value }),
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
  const valueChoices = <Word extends string>(list: readonly Word[], of: Record<Word, string>) =>
    list.map((value) => ({ value, label: of[value] }));
  const sizes = (name: string, parts: RunFilter[]): Group<Choice> => ({
    name,
    items: parts.flatMap((part) =>
      sizeLabels(part).map(({ field, text: label }) => {
        const chosen = filter[field] === part[field];
        return { id: label, label, keywords: name, chosen, change: chosen ? removing(field) : adding(part) };
      }),
    ),
  });
  return [
    {
      name: "Status",
      items: RUN_STATUSES.map((status) => {
        const chosen = filter.status?.includes(status) ?? false;
        return {
          id: status,
          label: status,
          keywords: "Status",
          chosen,
          change: (latest) => {
            const others = (latest.status ?? []).filter((each) => each !== status);
            const next = chosen ? others : [...others, status];
            return next.length > 0 ? { ...latest, status: next } : without(latest, "status");
          },
        };
      }),
    },
    group("Created", "period", valueChoices(RUN_PERIODS, PERIOD_LABELS)),
    group("Kind", "kind", valueChoices(RUN_KINDS, { agent: "agent runs", tool: "tool runs" })),
    named("Agent", "agentId", targets.agents),
    named("Tool", "toolId", targets.tools),
    group("Started by", "source", valueChoices(SOURCE_CHOICES, SOURCE_LABELS)),
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

const removing = (field: keyof RunFilter) => (filter: RunFilter) => without(filter, field);
const adding = (part: RunFilter) => (filter: RunFilter) => withTime(filter, part);

function without(filter: RunFilter, field: keyof RunFilter): RunFilter {
  const { [field]: _, ...rest } = filter;
  return rest;
}

/** A relative period and a fixed start exclude each other; the later choice wins. */
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
