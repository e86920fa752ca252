import { z } from "zod";
import { memberProcedure, router, startProcedure } from "@/server/api/trpc";
import { tryAgent, tryTool } from "@/server/api/try/try-definition";
import { Decimal } from "@/server/base/amount";
import { AppError } from "@/server/base/errors";
import { parseInput } from "@/server/base/issues";
import { writeJson } from "@/server/base/json/json";
import { writeYaml } from "@/server/catalog/definition-file/write-yaml";
import { agentDefinition } from "@/server/catalog/definitions";
import { RUN_KINDS } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { cancelMatching, cancelRun } from "@/server/runs/cancel";
import { forkRequest } from "@/server/runs/fork/changes";
import { estimateFork, viewEstimate } from "@/server/runs/fork/estimate-fork";
import { planFork } from "@/server/runs/fork/plan-fork";
import { readForkBase } from "@/server/runs/fork/read-base";
import { startFork } from "@/server/runs/fork/start-fork";
import { MAX_FOUND_IDS, MAX_RUNS_PER_CALL, MAX_SEARCH_LENGTH } from "@/server/runs/read/enums";
import { countStatuses } from "@/server/runs/read/find/count-statuses";
import { groupErrors } from "@/server/runs/read/find/error-groups";
import { runFilter } from "@/server/runs/read/find/filter";
import { findFitting, findNeighbors, findRunIds } from "@/server/runs/read/find/find";
import { searchSteps } from "@/server/runs/read/find/search-steps";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall, inspectStep } from "@/server/runs/read/inspect/inspect-line";
import { inspectModelRequest } from "@/server/runs/read/inspect/model-request";
import {
  compareConfigurations,
  inspectConfiguration,
  readStepDefinition,
} from "@/server/runs/read/inspect/run-configuration";
import { listChildren, listRuns, readRunsById } from "@/server/runs/read/list";
import { readLiveness } from "@/server/runs/read/liveness";
import { readRunHistogram } from "@/server/runs/read/metrics/histogram";
import { metricsQuestion, readRunMetrics } from "@/server/runs/read/metrics/metrics";
import { readStepValues } from "@/server/runs/read/step-values";
import { rerun, startFromDashboard } from "@/server/runs/rerun";
import { checkedInput, pageInput, resolver, starter } from "./procedures";

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");
const run = z.object({ runId: idInput() });
const pin = run.extend({ step: z.string().max(64) });
const filtered = z.object({ filter: runFilter.default({}) });
const forkInput = forkRequest.extend({
  ...run.shape,
  maxCredits: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,4})?$/, "must be a number with at most four decimal places")
    .refine((text) => Number(text) > 0, "must be above 0")
    .optional(),
});
const ids = z.array(idInput()).max(MAX_RUNS_PER_CALL);

export const runsRouter = router({
  list: viewer
    .input(filtered.extend(pageInput(idInput())))
    .query(({ ctx, input: { cursor, ...input } }) =>
      listRuns(ctx.services, ctx.actor, { ...input, before: cursor ?? undefined }),
    ),

  children: viewer.input(run).query(resolver(listChildren)),

  /** Counts runs by status, ignoring the filter's status. */
  statuses: viewer.input(filtered).query(resolver(countStatuses)),
  /** Ignores the filter's status. */
  histogram: viewer.input(filtered).query(resolver(readRunHistogram)),
  /** Among the newest failed runs that match the filter. */
  errors: viewer.input(filtered).query(resolver(groupErrors)),

  byIds: viewer
    .input(z.object({ ids }))
    .query(({ ctx, input }) => readRunsById(ctx.services, ctx.actor.orgId, input.ids)),

  /** Newest first: all newer than `after`, up to `limit`. */
  ids: viewer
    .input(
      filtered.extend({ after: idInput().nullable(), limit: z.int().min(1).max(MAX_FOUND_IDS).default(100) }),
    )
    .query(({ ctx, input: { filter, after, limit } }) =>
      findRunIds(ctx.services, ctx.actor.orgId, { filter, page: { after: after ?? undefined, limit } }),
    ),

  fitting: viewer.input(filtered.extend({ ids })).query(resolver(findFitting)),

  neighbors: viewer.input(filtered.extend(run.shape)).query(resolver(findNeighbors)),
  metrics: viewer.input(metricsQuestion).query(resolver(readRunMetrics)),

  inspect: viewer.input(run).query(resolver(inspectRun)),
  step: viewer.input(run.extend({ stepId: idInput() })).query(resolver(inspectStep)),
  /** As YAML. */
  stepDefinition: viewer.input(run.extend({ stepId: idInput() })).query(async ({ ctx, input }) => {
    const definition = await readStepDefinition(ctx.services, ctx.actor, input);
    return { yaml: definition && writeYaml(definition) };
  }),
  stepValues: viewer.input(run).query(async ({ ctx, input }) => {
    const { outputs, conditions } = await readStepValues(ctx.services, ctx.actor, input);
    return { outputs: [...outputs].map(([id, output]) => ({ id, text: writeJson(output) })), conditions };
  }),
  modelCall: viewer.input(run.extend({ callId: idInput() })).query(resolver(inspectCall)),
  modelRequest: viewer.input(run.extend({ callId: idInput() })).query(resolver(inspectModelRequest)),
  configuration: viewer
    .input(run)
    .query(({ ctx, input }) => inspectConfiguration(ctx.services, ctx.actor, input.runId)),
  compareConfigurations: viewer
    .input(z.object({ a: idInput(), b: idInput() }))
    .query(resolver(compareConfigurations)),
  searchSteps: viewer
    .input(run.extend({ text: z.string().min(1).max(MAX_SEARCH_LENGTH) }))
    .query(resolver(searchSteps)),
  liveness: viewer.input(run).query(({ ctx, input }) => readLiveness(ctx.services, ctx.actor, input.runId)),

  start: startProcedure
    .input(z.object({ kind: z.enum(RUN_KINDS), id: idInput(), input: z.string() }))
    .mutation(starter(startFromDashboard)),

  tryAgent: startProcedure
    .input(z.object({ agentId: idInput(), definition: z.unknown(), message: z.string() }))
    .mutation(({ ctx, input: { definition, ...input } }) =>
      tryAgent(ctx.services, ctx.actor, {
        ...input,
        definition: parseInput(agentDefinition, definition),
        conditions: ctx.conditions,
      }),
    ),

  tryTool: startProcedure
    .input(
      z.object({
        toolId: idInput(),
        yaml: z.string().max(1_000_000),
        input: z.string(),
        until: z.string().max(64).nullable().default(null),
        pinned: z.record(z.string().max(64), pin.nullable()).default({}),
      }),
    )
    .mutation(starter(tryTool)),

  rerun: startProcedure.input(run.extend({ input: z.string().optional() })).mutation(starter(rerun)),

  /** The settings of an ended run that a fork can change. */
  forkBase: viewer.input(run).query(resolver(readForkBase)),
  forkEstimate: viewer
    .input(checkedInput(forkInput))
    .query(async ({ ctx, input: { maxCredits, ...input } }) =>
      viewEstimate(
        await estimateFork(ctx.services, ctx.actor, { plan: await planFork(ctx.services, ctx.actor, input) }),
      ),
    ),
  fork: startProcedure
    .input(checkedInput(forkInput))
    .mutation(async ({ ctx: { services, actor, conditions }, input: { maxCredits, ...input } }) => {
      const plan = await planFork(services, actor, input);
      const options = maxCredits === undefined ? undefined : { maxCredits: new Decimal(maxCredits) };
      const { runId } = await startFork(services, actor, { plan, options, conditions });
      return { runId };
    }),

  /** Returns how many of the runs exist here. */
  cancel: member.input(z.object({ runIds: ids.min(1) })).mutation(async ({ ctx, input }) => {
    let found = 0;
    for (const runId of new Set(input.runIds)) {
      if (await cancelRun(ctx.services, ctx.actor.orgId, { runId, by: ctx.actor.name })) found += 1;
    }
    if (found === 0) throw new AppError("not_found", "Run not found.");
    return { found };
  }),

  /** At most 200 per call; `next` is the `before` of the next call. */
  cancelMatching: member
    .input(z.object({ filter: runFilter, before: idInput().nullish() }))
    .mutation(({ ctx, input: { filter, before } }) =>
      cancelMatching(ctx.services, ctx.actor, { filter, before: before ?? undefined }),
    ),
});
