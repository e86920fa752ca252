import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { refuseNul } from "@/server/base/json/body";
import { isJsonObject, type JsonObject } from "@/server/base/json/json";
import { isTerminal, type RunKind, type RunStatus } from "@/server/contract/enums";
import {
  agentRunDetailsView,
  agentRunStatusView,
  type RunCancelled,
  type RunStarted,
  runCancelled,
  runStarted,
  startAgentBody,
  toolRunResultView,
  toolRunStatusView,
} from "@/server/contract/shapes";
import { MAX_USER_MESSAGE_BYTES } from "@/server/contract/sizes";
import { cancelRun } from "@/server/runs/cancel";
import type { StartRequest } from "@/server/runs/prepare-start";
import { readConfiguration, readFinishedSteps, readRun } from "@/server/runs/read/read-run";
import { agentRunDetails, agentRunStatus, toolRunResult, toolRunStatus } from "@/server/runs/read/views";
import type { RunFacts } from "@/server/runs/run-facts";
import { startRun } from "@/server/runs/start";
import type { Services } from "@/server/services";
import { OPERATIONS } from "./operations";
import { type ApiContext, publicProcedure, router } from "./trpc";

/**
 * Endpoints 1–6 of the contract and the cancels as procedures; operations.ts declares their paths and rules.
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
export function startedResponse(kind: RunKind, runId: string): RunStarted {
  return {
    success: true,
    id: runId,
    status: "Pending",
    message: `${kind === "agent" ? "Agent" : "Tool"} run started. Poll its status by its id.`,
  };
}

type RunRef = { kind: RunKind; runId: string };

/**
 * Cancels a run of the caller's organization; idempotent. Returns its view, or only its status if the key may not read
 * runs.
 */
async function cancel<View extends { status: RunStatus }>(
  { services, actor }: { services: Services; actor: ApiKeyActor },
  run: RunRef,
  view: (facts: RunFacts) => View,
): Promise<View | RunCancelled> {
  await readRun(services, actor, run);
  await cancelRun(services, actor.orgId, { runId: run.runId, by: `the API key ${actor.name}` });
  const shown = view(await readRun(services, actor, run));
  if (actor.scopes.includes("runs:read")) return shown;
  const { status } = shown;
  const message = isTerminal(status) ? "The run has ended." : "The run ends within 30 seconds.";
  return { success: true, id: run.runId, status, message };
}

async function start(ctx: ApiContext & { actor: ApiKeyActor }, request: StartRequest) {
  const started = startRun(ctx.services, ctx.actor, { ...request, conditions: ctx.conditions });
  ctx.onStart?.(started);
  const { runId } = await started;
  return startedResponse(request.kind, runId);
}

const toolRunInput = z.object({ toolRunId: id("toolRunId", "tool run") });
const agentRunInput = z.object({ agentRunId: id("agentRunId", "agent run") });
const toolRun = ({ toolRunId }: z.output<typeof toolRunInput>): RunRef => ({
  kind: "tool",
  runId: toolRunId,
});
const agentRun = ({ agentRunId }: z.output<typeof agentRunInput>): RunRef => ({
  kind: "agent",
  runId: agentRunId,
});

export const v1Router = router({
  tools: router({
    run: keyProcedure
      .meta(OPERATIONS["tools.run"])
      .input(z.object({ toolId: id("toolId", "tool"), body: toolInput }))
      .output(runStarted)
      .mutation(async ({ ctx, input }) => {
        await refuseNul(input.body);
        return start(ctx, { kind: "tool", targetId: input.toolId, input: input.body });
      }),
    status: keyProcedure
      .meta(OPERATIONS["tools.status"])
      .input(toolRunInput)
      .output(toolRunStatusView)
      .query(async ({ ctx: { services, actor }, input }) =>
        toolRunStatus(await readRun(services, actor, toolRun(input)), services.clock.now()),
      ),
    result: keyProcedure
      .meta(OPERATIONS["tools.result"])
      .input(toolRunInput)
      .output(toolRunResultView)
      .query(async ({ ctx: { services, actor }, input }) => {
        const run = await readRun(services, actor, toolRun(input));
        const configuration = await readConfiguration(services, actor.orgId, run.configurationHash);
        return toolRunResult(run, configuration, services.clock.now());
      }),
    cancel: keyProcedure
      .meta(OPERATIONS["tools.cancel"])
      .input(toolRunInput)
      .output(z.union([toolRunStatusView, runCancelled]))
      .mutation(({ ctx, input }) =>
        cancel(ctx, toolRun(input), (run) => toolRunStatus(run, ctx.services.clock.now())),
      ),
  }),
  agents: router({
    run: keyProcedure
      .meta(OPERATIONS["agents.run"])
      .input(z.object({ agentId: id("agentId", "agent"), body: startAgentBody }))
      .output(runStarted)
      .mutation(async ({ ctx, input }) => {
        const { userMessage } = input.body;
        if (Buffer.byteLength(userMessage) > MAX_USER_MESSAGE_BYTES) {
          const message = `userMessage is larger than ${MAX_USER_MESSAGE_BYTES} bytes.`;
          throw new AppError("payload_too_large", message);
        }
        await refuseNul(userMessage, "/userMessage");
        return start(ctx, { kind: "agent", targetId: input.agentId, userMessage });
      }),
    status: keyProcedure
      .meta(OPERATIONS["agents.status"])
      .input(agentRunInput)
      .output(agentRunStatusView)
      .query(async ({ ctx: { services, actor }, input }) =>
        agentRunStatus(await readRun(services, actor, agentRun(input))),
      ),
    details: keyProcedure
      .meta(OPERATIONS["agents.details"])
      .input(agentRunInput)
      .output(agentRunDetailsView)
      .query(async ({ ctx: { services, actor }, input }) => {
        const run = await readRun(services, actor, agentRun(input));
        return agentRunDetails(run, await readFinishedSteps(services, actor.orgId, run.id));
      }),
    cancel: keyProcedure
      .meta(OPERATIONS["agents.cancel"])
      .input(agentRunInput)
      .output(z.union([agentRunStatusView, runCancelled]))
      .mutation(({ ctx, input }) => cancel(ctx, agentRun(input), agentRunStatus)),
  }),
});
