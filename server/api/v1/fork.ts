import { z } from "zod";
import { endpoint, idParameter, Reply } from "@/server/api/endpoint";
import type { ApiKeyActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { errorCode } from "@/server/contract/errors";
import { amount } from "@/server/contract/run-lists";
import { runStarted } from "@/server/contract/shapes";
import { MAX_DASHBOARD_CALL_BYTES } from "@/server/contract/sizes";
import { rateLimited, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { acquireRead } from "@/server/guard/limits/read-lease";
import { changesDefinition, type ForkChanges, forkRequest } from "@/server/runs/fork/changes";
import { estimateFork, viewEstimate } from "@/server/runs/fork/estimate-fork";
import { planFork } from "@/server/runs/fork/plan-fork";
import { startFork } from "@/server/runs/fork/start-fork";
import { requireOwnRun } from "@/server/runs/read/run-lines";
import { rejectStart } from "@/server/runs/start";
import type { Services } from "@/server/services";
import { exampleStart, REPEATABLE, startConditions, startReply } from "./start";

const forkEstimate = z
  .object({
    fromStep: z.int().meta({
      description: "Where the fork begins: the first step of the iteration, group or forEach of fromStep",
    }),
    takenOver: z.int().meta({ description: "Steps that are neither executed nor charged again" }),
    hold: amount.meta({ description: "The credits that the start would hold, such as 0.4210" }),
    mostCredits: amount.meta({ description: "The most that the fork can use: at most the balance" }),
    sameUsage: amount.meta({
      description: "Cost of the origin's own usage from fromStep on, at the fork's prices and model",
    }),
    sideEffects: z
      .array(
        z.object({
          name: z.string().meta({ description: "The function or tool" }),
          step: z.string().nullable().meta({ description: "The step of a tool; null for an agent" }),
        }),
      )
      .meta({
        description: "What the fork may execute that changes something outside. Empty under recorded",
      }),
    issues: z
      .array(z.object({ code: errorCode, message: z.string(), path: z.string().optional() }))
      .meta({ description: "What would reject the start; empty if nothing does" }),
  })
  .meta({ id: "ForkEstimate" });

const dryRun = z.boolean().default(false).meta({
  description: "true: check everything and start nothing. It counts as a read",
});

export const fork = {
  fork: endpoint({
    tag: "Runs",
    method: "POST",
    path: "/v1/runs/{runId}/fork",
    operationId: "forkRun",
    summary: "Fork a run",
    description:
      "Starts a new run that takes over what an ended run did before one of its steps, and continues with changes. The " +
      "fork has the run's frozen configuration. What is taken over counts in stepsExecuted, and costs nothing. Changes of " +
      "systemPrompt, model or toolVersion also need the scope definitions:write.",
    successDescription: "The new run is stored and will execute; with dryRun, what it would cost and do",
    scope: "runs:start",
    alsoNeeds: ["runs:read"],
    answers: "start",
    requestHeaders: REPEATABLE,
    conflicts: true,
    body: { maxBytes: MAX_DASHBOARD_CALL_BYTES },
    example: {
      request: { fromStep: 2, changes: { systemPrompt: "Answer in one sentence." }, tools: "recorded" },
      response: exampleStart,
    },
    input: z.object({ runId: idParameter("runId", "run"), body: forkRequest.extend({ dryRun }) }),
    answer: z.union([runStarted, forkEstimate]),
    async run({ services, actor, input, call: { options, repetition } }) {
      const { dryRun: isDry, ...request } = input.body;
      const { runId } = input;
      const headers = isDry ? await countRead(services, actor) : {};
      const plan = await planOwn(services, actor, { runId, ...request }).catch((error: unknown) => ({
        error,
      }));
      if (isDry) {
        if ("error" in plan) throw plan.error;
        return new Reply(viewEstimate(await estimateFork(services, actor, { plan, options })), { headers });
      }
      const kind = "error" in plan ? "agent" : plan.origin.kind;
      const conditions = startConditions(actor, kind, repetition);
      const result = await ("error" in plan
        ? rejectStart(services, actor, { error: plan.error, conditions })
        : startFork(services, actor, { plan, options, conditions }));
      return startReply(kind, result);
    },
  }),
};

async function planOwn(services: Services, actor: ApiKeyActor, request: Parameters<typeof planFork>[2]) {
  authorizeChanges(actor, request.changes);
  await requireOwnRun(services, actor, request.runId);
  return planFork(services, actor, request);
}

function authorizeChanges({ scopes, name }: ApiKeyActor, changes: ForkChanges): void {
  if (!changesDefinition(changes) || scopes.includes("definitions:write")) return;
  throw new AppError(
    "forbidden",
    `The API key ${name} lacks the scope definitions:write, which changes of systemPrompt, model and toolVersion need.`,
  );
}

async function countRead(services: Services, actor: ApiKeyActor): Promise<Record<string, string>> {
  const decision = await acquireRead(services, actor);
  if (decision === null) return {};
  if (!decision.allowed) throw rateLimited("reads", decision);
  return rateLimitHeaders("reads", decision);
}
