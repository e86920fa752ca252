import { z } from "zod";
import { endpoint } from "@/server/api/endpoint";
import type { ApiKeyActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { parseInput } from "@/server/base/issues";
import { amount } from "@/server/contract/run-lists";
import { METRICS_INTERVALS, RUN_PERIODS } from "@/server/runs/read/enums";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { findSubject, metricsQuestion, readRunMetrics } from "@/server/runs/read/metrics/metrics";
import type { Services } from "@/server/services";
import { choice, id } from "./filters";

const count = z.int().min(0);
const timestamp = z.iso.datetime({ precision: 3 });

const figures = z
  .object({
    runs: count,
    completed: count,
    failed: count,
    cancelled: count,
    open: count.meta({ description: "Runs that have not ended" }),
    children: count.meta({ description: "Among the runs: those that other runs started" }),
    drafts: count.meta({ description: "Runs of drafts, which the other figures leave out" }),
    tokens: count,
    credits: amount,
    creditsWithChildren: amount.meta({ description: "Also what the runs that they started used" }),
    draftCredits: amount,
    p50: count.nullable().meta({ description: "Median duration in milliseconds, exact to 1 %" }),
    p95: count.nullable().meta({ description: "95 % of the runs were no longer, in milliseconds" }),
  })
  .meta({ id: "RunFigures" });

const subject = figures.extend({ id: z.uuid(), name: z.string() }).meta({ id: "SubjectFigures" });
const subjects = z.array(subject).meta({ description: "Empty if the metrics are those of one subject" });

const metrics = z
  .object({
    total: figures,
    before: figures.meta({ description: "The same span of time before" }),
    buckets: z.array(figures.extend({ from: timestamp, to: timestamp }).meta({ id: "MetricsBucket" })),
    agents: subjects,
    tools: subjects,
    triggers: subjects,
    keys: subjects,
    schedules: subjects,
    applied: z.object({
      from: timestamp.meta({ description: "Runs created at this time or later" }),
      to: timestamp.meta({ description: "Runs created before this time" }),
      intervalMs: count,
      target: z.uuid().nullable(),
      trigger: z.uuid().nullable(),
      key: z.uuid().nullable(),
      schedule: z.uuid().nullable(),
    }),
  })
  .meta({ id: "RunMetrics" });

const day = (name: string) =>
  z.iso.date(`${name} must be a day such as 2026-11-21`).meta({ description: `The ${name} day, in UTC` });
const intervals = [...new Set(Object.values(METRICS_INTERVALS).flat())];

const input = z.object({
  period: choice("period", {
    among: RUN_PERIODS,
    description: "The time up to now; 24h if neither period nor days are given",
  }).input,
  interval: choice("interval", {
    among: intervals,
    description: "The length of a bucket; which ones are possible depends on the period",
  }).input,
  first: day("first").optional(),
  last: day("last").optional(),
  target: id("target", "Only runs of this agent or tool").input,
  trigger: id("trigger", "Only runs that this trigger started").input,
  key: id("key", "Only runs that this API key started").input,
  schedule: id("schedule", "Only runs that this schedule started").input,
});

const exampleFigures: z.input<typeof figures> = {
  runs: 120,
  completed: 117,
  failed: 2,
  cancelled: 1,
  open: 0,
  children: 14,
  drafts: 3,
  tokens: 48_210,
  credits: "7.1204",
  creditsWithChildren: "7.9310",
  draftCredits: "0.1820",
  p50: 3_410,
  p95: 12_870,
};

export const metricsOfRuns = {
  read: endpoint({
    method: "GET",
    path: "/v1/metrics",
    operationId: "getMetrics",
    tag: "Runs",
    summary: "Metrics of runs",
    description:
      "Figures of the runs that were created in a period, in total, by time and by agent, tool, trigger, key and schedule. A key " +
      "that is limited to agents and tools must name one of them as target.",
    successDescription: "The figures",
    scope: "runs:list",
    answers: "plain",
    limit: "lists",
    input,
    answer: metrics,
    example: {
      response: {
        total: exampleFigures,
        before: { ...exampleFigures, runs: 98, completed: 95 },
        buckets: [{ ...exampleFigures, from: "2026-11-21T00:00:00.000Z", to: "2026-11-22T00:00:00.000Z" }],
        agents: [{ ...exampleFigures, id: "019aa5c0-0a9f-7c08-b1d4-8e2f6a3b5c70", name: "Helper" }],
        tools: [],
        triggers: [],
        keys: [],
        schedules: [],
        applied: {
          from: "2026-11-21T00:00:00.000Z",
          to: "2026-11-22T00:00:00.000Z",
          intervalMs: 86_400_000,
          target: null,
          trigger: null,
          key: null,
          schedule: null,
        },
      } satisfies z.input<typeof metrics>,
    },
    async run({ services, actor, input: { period = "24h", interval, first, last, ...named } }) {
      if ((first === undefined) !== (last === undefined)) {
        throw new AppError("invalid_request", "first and last must be given together.");
      }
      const question = parseInput(metricsQuestion, {
        period,
        interval,
        days: first === undefined ? undefined : { first, last },
        subject: await subjectOf(services, actor, named),
      });
      const found = await readRunMetrics(services, actor, question);
      const { target = null, trigger = null, key = null, schedule = null } = named;
      const { from, to, bucketMs: intervalMs } = found;
      return {
        total: figuresOf(found.total),
        before: figuresOf(found.before),
        buckets: found.buckets.map(figuresOf),
        agents: found.agents.map(figuresOf),
        tools: found.tools.map(figuresOf),
        triggers: found.triggers.map(figuresOf),
        keys: found.keys.map(figuresOf),
        schedules: found.schedules.map(figuresOf),
        applied: { from, to, intervalMs, target, trigger, key, schedule },
      };
    },
  }),
};

// The bounds of percentiles are for links to the list.
function figuresOf<Line extends RunFigures>({ p50AtLeast: _, p95AtLeast: __, ...line }: Line) {
  return line;
}

type Named = {
  target?: string | undefined;
  trigger?: string | undefined;
  key?: string | undefined;
  schedule?: string | undefined;
};

async function subjectOf(services: Services, actor: ApiKeyActor, { target, trigger, key, schedule }: Named) {
  const named = [target, trigger, key, schedule].filter((each) => each !== undefined);
  if (named.length > 1) {
    throw new AppError("invalid_request", "Only one of target, trigger, key and schedule can be given.");
  }
  const { name, targetIds } = actor;
  if (targetIds.length > 0 && !targetIds.includes(target ?? "")) {
    const message = `The API key ${name} is limited to some agents and tools: target must be one of them.`;
    throw new AppError("forbidden", message);
  }
  if (trigger !== undefined) return { dimension: "trigger", id: trigger };
  if (key !== undefined) return { dimension: "key", id: key };
  if (schedule !== undefined) return { dimension: "schedule", id: schedule };
  return target === undefined ? undefined : findSubject(services, actor.orgId, target);
}
