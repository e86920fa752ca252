import { z } from "zod";
import type { ApiKeyActor } from "@/server/auth/actor";
import {
  agentRunDetailsView,
  agentRunStatusView,
  type RunStarted,
  runStarted,
  startAgentBody,
  toolRunResultView,
  toolRunStatusView,
} from "@/server/contract/shapes";
import { AppError } from "@/server/errors";
import { isJsonObject, type JsonObject } from "@/server/json";
import { refuseNul } from "@/server/json-body";
import { MAX_USER_MESSAGE_BYTES } from "@/server/limits/sizes";
import { cancelRun } from "@/server/runs/cancel";
import { readConfiguration, readFinishedSteps, readRun } from "@/server/runs/read";
import { startRun } from "@/server/runs/start";
import { agentRunDetails, agentRunStatus, toolRunResult, toolRunStatus } from "@/server/runs/views";
import type { Services } from "@/server/services";
import { publicProcedure, router } from "./trpc";

/** Endpoints 1–6 of the contract, and what `/v1` offers beyond them, as procedures; the REST door (rest.ts) finds them by their OpenAPI metadata. */

const keyProcedure = publicProcedure.use(({ ctx, next }) => {
  if (ctx.actor?.kind !== "api_key")
    throw new AppError("unauthenticated", "The header X-API-Key is missing.");
  const actor: ApiKeyActor = ctx.actor;
  return next({ ctx: { ...ctx, actor } });
});

const id = (what: string) => z.uuid(`is not a valid ${what} id`).meta({ description: `The ${what}'s id` });

/** A free-form JSON object, handed on as it was parsed: no key is dropped or renamed. */
const freeFormObject = z.custom<JsonObject>(isJsonObject, "must be a JSON object");

/** The body of an accepted start. */
export function startedAnswer(kind: "agent" | "tool", runId: string): RunStarted {
  return {
    success: true,
    id: runId,
    status: "Pending",
    message: `${kind === "agent" ? "Agent" : "Tool"} run started. Poll its status by its id.`,
  };
}

type Tag = "Agents" | "Tools";
const start = (path: `/${string}`, tag: Tag, summary: string) => ({
  openapi: { method: "POST", path, tag, summary, scope: "runs:start", limit: "starts" } as const,
});
const read = (path: `/${string}`, tag: Tag, summary: string) => ({
  openapi: { method: "GET", path, tag, summary, scope: "runs:read", limit: "reads" } as const,
});
/** A cancel must get through although the starts are used up: it counts as a read. */
const cancel = (path: `/${string}`, tag: Tag, summary: string) => ({
  openapi: { method: "POST", path, tag, summary, scope: "runs:start", limit: "reads" } as const,
});

/** Cancels a run of the caller's organization and reads it back; idempotent. */
async function cancelled(services: Services, actor: ApiKeyActor, kind: "agent" | "tool", runId: string) {
  await readRun(services, actor, kind, runId);
  await cancelRun(services, actor.orgId, runId, `the API key ${actor.name}`);
  return readRun(services, actor, kind, runId);
}

export const v1Router = router({
  tools: router({
    run: keyProcedure
      .meta(start("/v1/tools/run/{toolId}", "Tools", "Run a tool"))
      .input(z.object({ toolId: id("tool"), body: freeFormObject }))
      .output(runStarted)
      .mutation(async ({ ctx, input }) => {
        refuseNul(input.body);
        const { idempotency } = ctx;
        const request = { kind: "tool", targetId: input.toolId, input: input.body, idempotency } as const;
        const { runId } = await startRun(ctx.services, ctx.actor, request);
        return startedAnswer("tool", runId);
      }),
    status: keyProcedure
      .meta(read("/v1/tools/run/{toolRunId}/status", "Tools", "Status of a tool run"))
      .input(z.object({ toolRunId: id("tool run") }))
      .output(toolRunStatusView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, "tool", input.toolRunId);
        return toolRunStatus(run, ctx.services.clock.now());
      }),
    result: keyProcedure
      .meta(read("/v1/tools/run/{toolRunId}/result", "Tools", "Result of a tool run"))
      .input(z.object({ toolRunId: id("tool run") }))
      .output(toolRunResultView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, "tool", input.toolRunId);
        const configuration = await readConfiguration(ctx.services, ctx.actor.orgId, run.configurationHash);
        return toolRunResult(run, configuration, ctx.services.clock.now());
      }),
    cancel: keyProcedure
      .meta(cancel("/v1/tools/run/{toolRunId}/cancel", "Tools", "Cancel a tool run"))
      .input(z.object({ toolRunId: id("tool run") }))
      .output(toolRunStatusView)
      .mutation(async ({ ctx, input }) => {
        const run = await cancelled(ctx.services, ctx.actor, "tool", input.toolRunId);
        return toolRunStatus(run, ctx.services.clock.now());
      }),
  }),
  agents: router({
    run: keyProcedure
      .meta(start("/v1/agents/run/{agentId}", "Agents", "Run an agent"))
      .input(z.object({ agentId: id("agent"), body: startAgentBody }))
      .output(runStarted)
      .mutation(async ({ ctx, input }) => {
        const { userMessage } = input.body;
        if (Buffer.byteLength(userMessage) > MAX_USER_MESSAGE_BYTES) {
          throw new AppError(
            "payload_too_large",
            `userMessage is larger than ${MAX_USER_MESSAGE_BYTES} bytes.`,
          );
        }
        refuseNul(userMessage, "/userMessage");
        const { idempotency } = ctx;
        const request = { kind: "agent", targetId: input.agentId, userMessage, idempotency } as const;
        const { runId } = await startRun(ctx.services, ctx.actor, request);
        return startedAnswer("agent", runId);
      }),
    status: keyProcedure
      .meta(read("/v1/agents/run/{agentRunId}/status", "Agents", "Status of an agent run"))
      .input(z.object({ agentRunId: id("agent run") }))
      .output(agentRunStatusView)
      .query(async ({ ctx, input }) => {
        return agentRunStatus(await readRun(ctx.services, ctx.actor, "agent", input.agentRunId));
      }),
    details: keyProcedure
      .meta(read("/v1/agents/run/{agentRunId}/details", "Agents", "Details of an agent run, with its steps"))
      .input(z.object({ agentRunId: id("agent run") }))
      .output(agentRunDetailsView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, "agent", input.agentRunId);
        return agentRunDetails(run, await readFinishedSteps(ctx.services, ctx.actor.orgId, run.id));
      }),
    cancel: keyProcedure
      .meta(cancel("/v1/agents/run/{agentRunId}/cancel", "Agents", "Cancel an agent run"))
      .input(z.object({ agentRunId: id("agent run") }))
      .output(agentRunStatusView)
      .mutation(async ({ ctx, input }) => {
        return agentRunStatus(await cancelled(ctx.services, ctx.actor, "agent", input.agentRunId));
      }),
  }),
});
