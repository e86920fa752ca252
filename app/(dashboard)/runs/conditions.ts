import { formatCount, formatDate, formatMinute, formatSpan } from "@/app/_ui/figures/format";
import type { FilterTargets } from "@/server/catalog/overview";
import { RUN_KINDS } from "@/server/contract/enums";
import { LISTED_STATUSES, MAX_SEARCH_LENGTH, RUN_PERIODS, SOURCE_CHOICES } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";

/** The context of labels: the names of agents, tools, …, and the reader's time zone. */
export type LabelContext = { targets: FilterTargets; timeZone: string };

type Field = keyof RunFilter;
type Value<Name extends Field> = NonNullable<RunFilter[Name]>;

/**
 * All conditions of a filter, in the order of the picker: how each is read from the URL, offered and described.
 */
export const CONDITIONS = [
  condition("status", "Status", {
    read: (text) => {
      const names = [...new Set(text.split(","))];
      const statuses = names.flatMap((name) => LISTED_STATUSES.find((each) => each === name) ?? []);
      return statuses.length === names.length ? statuses : undefined;
    },
    values: () => LISTED_STATUSES.map((status) => [status]),
    label: (statuses) => statuses.join(" or "),
  }),
  oneOf("period", "Created", {
    values: RUN_PERIODS,
    labels: {
      "1h": "created in the last hour",
      "24h": "created in the last 24 h",
      "7d": "created in the last 7 days",
      "30d": "created in the last 30 days",
      "90d": "created in the last 90 days",
    },
  }),
  moment("from", "begin", (time) => `created from ${time}`),
  moment("to", "end", (time, { from }) => `${from ? "" : "created "}before ${time}`),
  oneOf("kind", "Kind", { values: RUN_KINDS, labels: { agent: "agent runs", tool: "tool runs" } }),
  named("agentId", "Agent", { param: "agent", list: "agents" }),
  named("toolId", "Tool", { param: "tool", list: "tools" }),
  oneOf("source", "Started by", {
    values: SOURCE_CHOICES,
    labels: {
      api: "by API",
      webhook: "by webhook",
      dashboard: "from the dashboard",
      operator: "by the operator",
      run: "by another run",
      draft: "of a draft",
      schedule: "by schedule",
      outside: "not by another run",
      saved: "without drafts",
    },
  }),
  named("triggerId", "Trigger", { param: "trigger", list: "triggers", before: "trigger " }),
  named("scheduleId", "Schedule", { param: "schedule", list: "schedules", before: "schedule " }),
  named("apiKeyId", "API key", { param: "key", list: "keys", before: "key " }),
  named("userId", "Person", { param: "person", list: "people", before: "by " }),
  ...sizes("Duration", ["minDurationMs", "maxDurationMs"], {
    read: parseInteger,
    values: [1_000, 10_000, 60_000, 600_000],
    label: (ms) => `took ${formatSpan(ms)}`,
  }),
  ...sizes("Tokens", ["minTokens", "maxTokens"], {
    read: parseInteger,
    values: [1_000, 10_000, 100_000],
    label: (count) => `${formatCount(count)} tokens`,
  }),
  ...sizes("Credits", ["minCredits", "maxCredits"], {
    read: (text) => (/^\d{1,12}(\.\d{1,4})?$/.test(text) ? text : undefined),
    values: ["0.1", "1", "10"],
    label: (amount) => `${amount} credits`,
  }),
  condition("metadata", "Metadata", {
    // Its parameters are `metadata.KEY` (address.ts).
    read: () => undefined,
    label: describeMetadata,
  }),
  condition("text", "Text", {
    param: "q",
    read: (text) => (text.trim().length <= MAX_SEARCH_LENGTH ? text.trim() : undefined),
    // The search field shows it.
    label: () => "",
  }),
];

export function describeFilter(filter: RunFilter, context: LabelContext): string {
  return CONDITIONS.map((each) => each.describe(filter, context))
    .filter((label) => label !== "")
    .join(", ");
}

function condition<Name extends Field>(
  field: Name,
  group: string,
  {
    param = field,
    name = param,
    read,
    values = () => [],
    label,
    chip = label,
  }: {
    param?: string;
    name?: string;
    read: (text: string) => Value<Name> | undefined;
    values?: (targets: FilterTargets) => readonly Value<Name>[];
    label: (value: Value<Name>, context: LabelContext, filter: RunFilter) => string;
    chip?: (value: Value<Name>, context: LabelContext, filter: RunFilter) => string;
  },
) {
  const partOf = (value: Value<Name>): RunFilter => ({ [field]: value });
  const describe = (as: typeof label, filter: RunFilter, context: LabelContext) => {
    const value = filter[field];
    return value === undefined ? "" : as(value, context, filter);
  };
  return {
    field,
    group,
    param,
    name,
    read: (text: string): RunFilter | null => {
      const value = read(text);
      return value === undefined ? null : partOf(value);
    },
    choices: (targets: FilterTargets): RunFilter[] => values(targets).map(partOf),
    describe: (filter: RunFilter, context: LabelContext) => describe(label, filter, context),
    describeAlone: (filter: RunFilter, context: LabelContext) => describe(chip, filter, context),
  };
}

function oneOf<Name extends "kind" | "source" | "period">(
  field: Name,
  group: string,
  { values, labels }: { values: readonly Value<Name>[]; labels: Record<Value<Name>, string> },
) {
  const read = (text: string) => values.find((each) => each === text);
  const chip = (value: Value<Name>) => (value === "outside" ? "" : labels[value]);
  return condition(field, group, { read, values: () => values, label: (value) => labels[value], chip });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function named(
  field: "agentId" | "toolId" | "triggerId" | "scheduleId" | "apiKeyId" | "userId",
  group: string,
  { param, list, before = "" }: { param: string; list: keyof FilterTargets; before?: string },
) {
  const label = (id: string, { targets }: LabelContext) =>
    targets[list].find((each) => each.id === id)?.name ?? "unknown";
  return condition(field, group, {
    param,
    read: (text) => (UUID.test(text) ? text : undefined),
    values: (targets) => targets[list].map(({ id }) => id),
    label,
    chip: (id, context) => before + label(id, context),
  });
}

function moment(field: "from" | "to", name: string, label: (time: string, filter: RunFilter) => string) {
  return condition(field, "Created", {
    name,
    read: (text) => {
      const at = new Date(text);
      return at.getTime() >= 0 ? at.toISOString() : undefined;
    },
    label: (iso, { timeZone }, filter) => {
      const day = formatDate(new Date(iso), timeZone);
      const time = formatMinute(new Date(iso), timeZone).split(" ").at(-1);
      return label(time === "00:00" ? day : `${day} ${time}`, filter);
    },
  });
}

function describeMetadata(metadata: Value<"metadata">): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key} = ${value}`)
    .join(", ");
}

function parseInteger(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

type Size = "minDurationMs" | "maxDurationMs" | "minTokens" | "maxTokens" | "minCredits" | "maxCredits";

function sizes<Name extends Size>(
  group: string,
  [least, most]: readonly [Name, Name],
  {
    read,
    values,
    label,
  }: {
    read: (text: string) => Value<Name> | undefined;
    values: readonly Value<Name>[];
    label: (size: Value<Name>) => string;
  },
) {
  const common = { name: "", read };
  return [
    condition(least, group, { ...common, values: () => values, label: (size) => `${label(size)} or more` }),
    condition(most, group, { ...common, label: (size) => `${label(size)} or less` }),
  ];
}
