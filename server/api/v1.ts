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
import { refuseNul } from "@/server/json/body";
import { isJsonObject, type JsonObject } from "@/server/json/json";
import { MAX_USER_MESSAGE_BYTES } from "@/server/limits/sizes";
import { cancelRun } from "@/server/runs/cancel";
import { readConfiguration, readFinishedSteps, readRun } from "@/server/runs/read/read-run";
import { agentRunDetails, agentRunStatus, toolRunResult, toolRunStatus } from "@/server/runs/read/views";
import { startRun } from "@/server/runs/start";
import type { Services } from "@/server/services";
import * as metadata from "./openapi/metadata";
import { publicProcedure, router } from "./trpc";

/**
 * Endpoints 1–6 of the contract and the cancels as procedures. The REST handler (rest.ts) routes by their OpenAPI
 * metadata; trpc-to-openapi generates the document from it (openapi/).
 */

const keyProcedure = publicProcedure.use(({ ctx, next }) => {
  if (ctx.actor?.kind !== "api_key")
    throw new AppError("unauthenticated", "The header X-API-Key is missing.");
  const actor: ApiKeyActor = ctx.actor;
  return next({ ctx: { ...ctx, actor } });
});

const id = (name: string, what: string) =>
  z.uuid(`${name} is not a valid ${what} id`).meta({ description: `The ${what}'s id` });

/** A tool's input as parsed: no key is dropped or renamed. */
const toolInput = z.custom<JsonObject>(isJsonObject, "The body must be a JSON object").meta({
  id: "ToolInput",
  description: "The tool's input. The service checks it against the tool's own parameter schema.",
  override: { type: "object", additionalProperties: true },
});

/** The body of an accepted start. */
export function startedResponse(kind: "agent" | "tool", runId: string): RunStarted {
  return {
    success: true,
    id: runId,
    status: "Pending",
    message: `${kind === "agent" ? "Agent" : "Tool"} run started. Poll its status by its id.`,
  };
}

/** Cancels a run of the caller's organization and returns it; idempotent. */
async function cancelled(
  services: Services,
  actor: ApiKeyActor,
  { kind, runId }: { kind: "agent" | "tool"; runId: string },
) {
  await readRun(services, actor, { kind, runId });
  await cancelRun(services, actor.orgId, { runId, by: `the API key ${actor.name}` });
  return readRun(services, actor, { kind, runId });
}

export const v1Router = router({
  tools: router({
    run: keyProcedure
      .meta(metadata.runTool)
      .input(z.object({ toolId: id("toolId", "tool"), body: toolInput }))
      .output(runStarted)
      .mutation(async ({ ctx, input }) => {
        await refuseNul(input.body);
        const request = { kind: "tool", targetId: input.toolId, input: input.body } as const;
        const result = await startRun(ctx.services, ctx.actor, { ...request, conditions: ctx.conditions });
        ctx.onStart?.(result);
        return startedResponse("tool", result.runId);
      }),
    status: keyProcedure
      .meta(metadata.getToolRunStatus)
      .input(z.object({ toolRunId: id("toolRunId", "tool run") }))
      .output(toolRunStatusView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, { kind: "tool", runId: input.toolRunId });
        return toolRunStatus(run, ctx.services.clock.now());
      }),
    result: keyProcedure
      .meta(metadata.getToolRunResult)
      .input(z.object({ toolRunId: id("toolRunId", "tool run") }))
      .output(toolRunResultView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, { kind: "tool", runId: input.toolRunId });
        const configuration = await readConfiguration(ctx.services, ctx.actor.orgId, run.configurationHash);
        return toolRunResult(run, configuration, ctx.services.clock.now());
      }),
    cancel: keyProcedure
      .meta(metadata.cancelToolRun)
      .input(z.object({ toolRunId: id("toolRunId", "tool run") }))
      .output(toolRunStatusView)
      .mutation(async ({ ctx, input }) => {
        const run = await cancelled(ctx.services, ctx.actor, { kind: "tool", runId: input.toolRunId });
        return toolRunStatus(run, ctx.services.clock.now());
      }),
  }),
  agents: router({
    run: keyProcedure
      .meta(metadata.runAgent)
      .input(z.object({ agentId: id("agentId", "agent"), body: startAgentBody }))
      .output(runStarted)
      .mutation(async ({ ctx, input }) => {
        const { userMessage } = input.body;
        if (Buffer.byteLength(userMessage) > MAX_USER_MESSAGE_BYTES) {
          throw new AppError(
            "payload_too_large",
            `userMessage is larger than ${MAX_USER_MESSAGE_BYTES} bytes.`,
          );
        }
        await refuseNul(userMessage, "/userMessage");
        const request = { kind: "agent", targetId: input.agentId, userMessage } as const;
        const result = await startRun(ctx.services, ctx.actor, { ...request, conditions: ctx.conditions });
        ctx.onStart?.(result);
        return startedResponse("agent", result.runId);
      }),
    status: keyProcedure
      .meta(metadata.getAgentRunStatus)
      .input(z.object({ agentRunId: id("agentRunId", "agent run") }))
      .output(agentRunStatusView)
      .query(async ({ ctx, input }) => {
        return agentRunStatus(
          await readRun(ctx.services, ctx.actor, { kind: "agent", runId: input.agentRunId }),
        );
      }),
    details: keyProcedure
      .meta(metadata.getAgentRunDetails)
      .input(z.object({ agentRunId: id("agentRunId", "agent run") }))
      .output(agentRunDetailsView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, { kind: "agent", runId: input.agentRunId });
        return agentRunDetails(run, await readFinishedSteps(ctx.services, ctx.actor.orgId, run.id));
      }),
    cancel: keyProcedure
      .meta(metadata.cancelAgentRun)
      .input(z.object({ agentRunId: id("agentRunId", "agent run") }))
      .output(agentRunStatusView)
      .mutation(async ({ ctx, input }) => {
        return agentRunStatus(
          await cancelled(ctx.services, ctx.actor, { kind: "agent", runId: input.agentRunId }),
        );
      }),
  }),
});
