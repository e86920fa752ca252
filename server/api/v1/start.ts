import { z } from "zod";
import { type Endpoint, type EndpointRules, endpointOf } from "@/server/api/endpoint";
import { idempotencyKey } from "@/server/api/openapi/headers";
import type { ApiContext, Reply } from "@/server/api/trpc";
import type { ApiKeyActor } from "@/server/base/actor";
import type { RunKind } from "@/server/contract/enums";
import { type RunStarted, runStarted } from "@/server/contract/shapes";
import { rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import type { StartRequest } from "@/server/runs/prepare-start";
import { rejectStart, type StartResult, startRun } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";

type StartRules = Pick<EndpointRules, "path" | "operationId" | "tag" | "summary" | "description"> & {
  kind: RunKind;
  body: NonNullable<EndpointRules["body"]>;
  example: object;
};

/** Declares an endpoint that starts a run. `request` reads the start from the input. */
export function startEndpoint<Input extends z.ZodObject>({
  input,
  request,
  example,
  ...rules
}: StartRules & {
  input: Input;
  request(input: Input["_zod"]["output"]): Promise<StartRequest>;
}): Endpoint {
  const { kind } = rules;
  return endpointOf(
    {
      ...rules,
      method: "POST",
      scope: "runs:start",
      limit: "starts",
      ignoresUnknownQuery: true,
      requestHeaders: REQUEST_HEADERS,
      successDescription: "The run is stored and will execute",
      example: { request: example, response: EXAMPLES[kind] },
    },
    {
      input,
      answer: runStarted,
      async resolve(ctx, given: Input["_zod"]["output"]) {
        const { services, actor } = ctx;
        const conditions = startConditions(ctx, actor, kind);
        const result = await request(given).then(
          (read) => startRun(services, actor, { ...read, conditions }),
          (error: unknown) => rejectStart(services, actor, { error, conditions }),
        );
        addToReply(ctx.reply, result);
        return startedResponse(kind, result.runId);
      },
    },
  );
}

const REQUEST_HEADERS = z.object({
  "Idempotency-Key": idempotencyKey(
    "Within 24 hours the same key and request return the first answer and start nothing. " +
      "The same key with another path or body is 409.",
  ),
});

/** The limit of a start, and the start that it may repeat. */
export function startConditions(
  { repetition }: Pick<ApiContext, "repetition">,
  { plan, apiKeyId }: ApiKeyActor,
  kind: RunKind,
): StartConditions {
  const conditions: StartConditions = {};
  if (plan.startsPerMinute !== null) {
    const limit = plan.startsPerMinute;
    conditions.limit = { name: "starts", key: `starts:${apiKeyId}`, limit, seconds: 60 };
  }
  if (repetition) {
    const answer = (runId: string) => startedResponse(kind, runId);
    conditions.idempotency = { scope: "start", ...repetition, answer };
  }
  return conditions;
}

/** Adds a start's rate limit and the stored answer that it repeats. */
export function addToReply(reply: Reply | undefined, { rate, replay }: StartResult): void {
  if (reply === undefined) return;
  if (rate) Object.assign(reply.headers, rateLimitHeaders("starts", rate));
  if (replay === null) return;
  reply.headers["Idempotent-Replayed"] = "true";
  reply.text = replay;
}

function startedResponse(kind: RunKind, runId: string): RunStarted {
  return {
    success: true,
    id: runId,
    status: "Pending",
    message: `${kind === "agent" ? "Agent" : "Tool"} run started. Poll its status by its id.`,
  };
}

const started = (id: string): RunStarted => ({
  success: true,
  id,
  status: "Pending",
  message: "The run was started. Poll its status by its id.",
});
const EXAMPLES = {
  agent: started("019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02"),
  tool: started("019aa5d1-b7e8-7a36-8c4d-52d0f8b3c614"),
};
