import { z } from "zod";
import { type Endpoint, type EndpointRules, endpoint, Reply } from "@/server/api/endpoint";
import type { ApiCall } from "@/server/api/trpc";
import type { ApiKeyActor } from "@/server/base/actor";
import type { RunKind } from "@/server/contract/enums";
import { IDEMPOTENCY_HOURS } from "@/server/contract/limits";
import { type RunStarted, runStarted, startEstimate } from "@/server/contract/shapes";
import { rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { estimateStart } from "@/server/runs/estimate-start";
import type { StartRequest } from "@/server/runs/prepare-start";
import { rejectStart, type StartResult, startRun } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";
import { idempotencyKey, OPTION_HEADERS } from "./start-headers";

type StartRules<Input extends z.ZodObject> = Pick<
  EndpointRules,
  "path" | "operationId" | "tag" | "summary" | "description"
> & {
  kind: RunKind;
  body: NonNullable<EndpointRules["body"]>;
  example: object;
  input: Input;
  request(input: Input["_zod"]["output"]): Promise<StartRequest>;
};

export function startEndpoint<Input extends z.ZodObject>({
  input,
  request,
  example,
  ...rules
}: StartRules<Input>): Endpoint {
  const { kind } = rules;
  return endpoint({
    ...rules,
    method: "POST",
    scope: "runs:start",
    answers: "start",
    ignoresUnknownQuery: true,
    requestHeaders: REPEATABLE,
    successDescription: "The run is stored and will execute",
    example: { request: example, response: EXAMPLES[kind] },
    input,
    answer: runStarted,
    async run({ services, actor, input: given, call: { options, repetition } }) {
      const conditions = startConditions(actor, kind, repetition);
      const result = await request(given).then(
        (read) => startRun(services, actor, { ...read, options, conditions }),
        (error: unknown) => rejectStart(services, actor, { error, conditions }),
      );
      return startReply(kind, result);
    },
  });
}

export const REPEATABLE = z.object({
  "Idempotency-Key": idempotencyKey(
    `Within ${IDEMPOTENCY_HOURS} hours the same key and request return the first answer and start nothing. ` +
      "The same key with another path, body or option is 409.",
  ),
  ...OPTION_HEADERS.shape,
});

/** Declares an endpoint that checks a start without starting a run. It counts as a read. */
export function estimateEndpoint<Input extends z.ZodObject>({
  input,
  request,
  example,
  ...rules
}: StartRules<Input>): Endpoint {
  return endpoint({
    ...rules,
    method: "POST",
    scope: "runs:start",
    answers: "plain",
    idempotent: true,
    successDescription: "The hold, the most that the run can cost, and what would reject the start",
    example: { request: example, response: ESTIMATES[rules.kind] },
    input,
    answer: startEstimate,
    async run({ services, actor, input: given }) {
      const { hold, mostCredits, issues } = await estimateStart(services, actor, await request(given));
      return { hold: hold.toFixed(4), mostCredits: mostCredits?.toFixed(4) ?? null, issues };
    },
  });
}

/** The common part of the descriptions of both estimates. */
export const ESTIMATE =
  "Makes the checks of a start with the same body, and starts nothing. What would reject the start is listed in issues; " +
  "a malformed body is rejected.";

/** The limit of a start, and the start that it may repeat. */
export function startConditions(
  { plan, apiKeyId }: ApiKeyActor,
  kind: RunKind,
  repetition: ApiCall["repetition"],
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

/** The reply with the start's rate limit, or the stored answer that it repeats. */
export function startReply(kind: RunKind, { runId, rate, replay }: StartResult): Reply<RunStarted> {
  const body = startedResponse(kind, runId);
  const headers = rate ? rateLimitHeaders("starts", rate) : {};
  if (replay === null) return new Reply(body, { headers });
  return new Reply(body, { headers: { ...headers, "Idempotent-Replayed": "true" }, text: replay });
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
export const exampleStart = started("019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02");
const EXAMPLES = {
  agent: exampleStart,
  tool: started("019aa5d1-b7e8-7a36-8c4d-52d0f8b3c614"),
};

const ESTIMATES: Record<RunKind, z.input<typeof startEstimate>> = {
  agent: { hold: "0.0132", mostCredits: null, issues: [] },
  tool: {
    hold: "0.0100",
    mostCredits: "0.0200",
    issues: [{ code: "invalid_request", message: "sku is required", path: "/sku" }],
  },
};
