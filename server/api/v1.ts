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
import { MAX_USER_MESSAGE_BYTES } from "@/server/limits/sizes";
import { readConfiguration, readFinishedSteps, readRun } from "@/server/runs/read";
import { startRun } from "@/server/runs/start";
import { agentRunDetails, agentRunStatus, toolRunResult, toolRunStatus } from "@/server/runs/views";
import { refuseNul } from "./json-body";
import { publicProcedure, router } from "./trpc";

/** Endpoints 1–6 of the contract as procedures; the REST door (rest.ts) finds them by their OpenAPI metadata. */

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

const operation = (method: "GET" | "POST", path: `/${string}`, tag: "Agents" | "Tools", summary: string) => ({
  openapi: { method, path, tag, summary },
});

export const v1Router = router({
  tools: router({
    run: keyProcedure
      .meta(operation("POST", "/v1/tools/run/{toolId}", "Tools", "Run a tool"))
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
      .meta(operation("GET", "/v1/tools/run/{toolRunId}/status", "Tools", "Status of a tool run"))
      .input(z.object({ toolRunId: id("tool run") }))
      .output(toolRunStatusView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, "tool", input.toolRunId);
        return toolRunStatus(run, ctx.services.clock.now());
      }),
    result: keyProcedure
      .meta(operation("GET", "/v1/tools/run/{toolRunId}/result", "Tools", "Result of a tool run"))
      .input(z.object({ toolRunId: id("tool run") }))
      .output(toolRunResultView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, "tool", input.toolRunId);
        const configuration = await readConfiguration(ctx.services, ctx.actor.orgId, run.configurationHash);
        return toolRunResult(run, configuration, ctx.services.clock.now());
      }),
  }),
  agents: router({
    run: keyProcedure
      .meta(operation("POST", "/v1/agents/run/{agentId}", "Agents", "Run an agent"))
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
      .meta(operation("GET", "/v1/agents/run/{agentRunId}/status", "Agents", "Status of an agent run"))
      .input(z.object({ agentRunId: id("agent run") }))
      .output(agentRunStatusView)
      .query(async ({ ctx, input }) => {
        return agentRunStatus(await readRun(ctx.services, ctx.actor, "agent", input.agentRunId));
      }),
    details: keyProcedure
      .meta(
        operation(
          "GET",
          "/v1/agents/run/{agentRunId}/details",
          "Agents",
          "Details of an agent run, with its steps",
        ),
      )
      .input(z.object({ agentRunId: id("agent run") }))
      .output(agentRunDetailsView)
      .query(async ({ ctx, input }) => {
        const run = await readRun(ctx.services, ctx.actor, "agent", input.agentRunId);
        return agentRunDetails(run, await readFinishedSteps(ctx.services, ctx.actor.orgId, run.id));
      }),
  }),
});
