import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { runFilter } from "@/server/runs/filter";
import { inspectCall, inspectRun, inspectStep } from "@/server/runs/inspect";
import { countNewerRuns, listRuns, readRunsById } from "@/server/runs/list";
import { readRunMetrics } from "@/server/runs/metrics";
import { RUN_PERIODS } from "@/server/runs/words";

const viewer = memberProcedure("viewer");

/** Reading runs in the dashboard. */
export const runsRouter = router({
  list: viewer
    .input(
      z.object({
        filter: runFilter.default({}),
        /** The id after which (towards older runs) the page begins. */
        cursor: z.uuid().nullish(),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input }) =>
      listRuns(ctx.services, ctx.actor, {
        filter: input.filter,
        before: input.cursor ?? undefined,
        limit: input.limit,
      }),
    ),

  byIds: viewer
    .input(z.object({ ids: z.array(z.uuid()).max(200) }))
    .query(({ ctx, input }) => readRunsById(ctx.services, ctx.actor, input.ids)),

  countNewer: viewer
    .input(z.object({ filter: runFilter.default({}), after: z.uuid().nullable() }))
    .query(({ ctx, input }) => countNewerRuns(ctx.services, ctx.actor, input)),

  metrics: viewer
    .input(z.object({ period: z.enum(RUN_PERIODS), filter: runFilter.default({}) }))
    .query(({ ctx, input }) => readRunMetrics(ctx.services, ctx.actor, input)),

  inspect: viewer
    .input(z.object({ runId: z.uuid() }))
    .query(({ ctx, input }) => inspectRun(ctx.services, ctx.actor, input.runId)),

  step: viewer
    .input(z.object({ runId: z.uuid(), stepId: z.uuid() }))
    .query(({ ctx, input }) => inspectStep(ctx.services, ctx.actor, input)),

  modelCall: viewer
    .input(z.object({ runId: z.uuid(), callId: z.uuid() }))
    .query(({ ctx, input }) => inspectCall(ctx.services, ctx.actor, input)),
});
