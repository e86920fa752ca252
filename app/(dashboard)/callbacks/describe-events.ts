import type { CallbackLine } from "@/server/catalog/callbacks/list-callbacks";
import { CALLBACK_END_EVENTS, CALLBACK_EVENTS, type CallbackEventType } from "@/server/contract/enums";

export const EVENT_LABELS: Record<CallbackEventType, string> = {
  "run.completed": "A run completes",
  "run.failed": "A run fails",
  "run.cancelled": "A run is cancelled",
  "run.waiting": "A run waits until a time",
  "credits.low": "Few credits are left",
  "schedule.missed": "A schedule misses a time",
};

const WORDS: Record<string, string> = {
  "run.completed": "completed",
  "run.failed": "failed",
  "run.cancelled": "cancelled",
  "run.waiting": "waiting",
};

/** The events of a callback in a few words, such as `Run ended, agent Order desk`. */
export function describeEvents({ events, agents, tools, triggers, metadata }: CallbackLine): string {
  const has = (type: string) => events.includes(type);
  const ofRuns = CALLBACK_END_EVENTS.every(has)
    ? ["ended", ...(has("run.waiting") ? ["waiting"] : [])]
    : events.flatMap((type) => WORDS[type] ?? []);
  const named = [
    ...(ofRuns.length > 0 ? [`run ${ofRuns.join(", ")}`] : []),
    ...(has("credits.low") ? ["credits low"] : []),
    ...(has("schedule.missed") ? ["schedule missed"] : []),
  ].join(", ");
  const types = CALLBACK_EVENTS.every(has) ? "All types" : named.charAt(0).toUpperCase() + named.slice(1);
  const only = [
    ...agents.map(({ name }) => `agent ${name}`),
    ...tools.map(({ name }) => `tool ${name}`),
    ...triggers.map(({ name }) => `trigger ${name}`),
    ...Object.entries(metadata).map(([name, value]) => `${name} = ${value}`),
  ];
  const [first, ...others] = only;
  if (first === undefined) return types;
  return `${types}, ${first}${others.length > 0 ? ` and ${others.length} more` : ""}`;
}
