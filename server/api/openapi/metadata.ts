import { z } from "zod";
import type { ApiMeta } from "@/server/api/trpc";
import { idempotencyKey } from "./headers";

/**
 * The OpenAPI metadata of the `/v1` procedures: trpc-to-openapi generates the document from it, operations.ts the
 * routes. `errorResponses` is empty because responses.ts adds our own.
 */

type Described = {
  path: `/${string}`;
  operationId: string;
  tag: "Agents" | "Tools";
  summary: string;
  description: string;
};

type Rules = Pick<
  NonNullable<ApiMeta["openapi"]>,
  "method" | "scope" | "limit" | "successDescription" | "requestHeaders"
>;

/** Declares the metadata of operations of one kind. */
const operation =
  (rules: Rules) =>
  ({ tag, ...described }: Described): ApiMeta => ({
    openapi: { ...described, ...rules, tags: [tag], errorResponses: {} },
  });

const start = operation({
  method: "POST",
  scope: "runs:start",
  limit: "starts",
  requestHeaders: z.object({
    "Idempotency-Key": idempotencyKey(
      "Within 24 hours the same key and request return the first answer and start nothing. " +
        "The same key with another path or body is 409.",
    ),
  }),
  successDescription: "The run is stored and will execute",
});

const read = operation({
  method: "GET",
  scope: "runs:read",
  limit: "reads",
  successDescription: "The run's current state",
});

/** A cancel counts as a read, so that it works when the starts are used up. */
const cancel = operation({
  method: "POST",
  scope: "runs:start",
  limit: "reads",
  successDescription: "The run after the cancel",
});

const CANCEL =
  "Idempotent. A pending run ends immediately, a running one within 30 seconds. What it has used is charged. " +
  "Cancelling an ended run changes nothing. The call needs the scope runs:start and counts as a read.";

export const runTool = start({
  path: "/v1/tools/run/{toolId}",
  operationId: "runTool",
  tag: "Tools",
  summary: "Run a tool",
  description:
    "Starts a tool and returns the new run's id immediately. The body is the tool's input, an object that matches " +
    "the tool's parameters, at most 1 MiB; no body means {}. Poll the run's status to follow it.",
});

export const getToolRunStatus = read({
  path: "/v1/tools/run/{toolRunId}/status",
  operationId: "getToolRunStatus",
  tag: "Tools",
  summary: "Status of a tool run",
  description: "For polling: after 1 second, then every 2 seconds, until status is Completed or Failed.",
});

export const getToolRunResult = read({
  path: "/v1/tools/run/{toolRunId}/result",
  operationId: "getToolRunResult",
  tag: "Tools",
  summary: "Result of a tool run",
  description:
    "Input, output and output schema, at any time: outputData is the JSON document null until " +
    "status is Completed.",
});

export const cancelToolRun = cancel({
  path: "/v1/tools/run/{toolRunId}/cancel",
  operationId: "cancelToolRun",
  tag: "Tools",
  summary: "Cancel a tool run",
  description: `${CANCEL} A cancelled tool run is Failed, with the errorMessage “Cancelled by …”.`,
});

export const runAgent = start({
  path: "/v1/agents/run/{agentId}",
  operationId: "runAgent",
  tag: "Agents",
  summary: "Run an agent",
  description:
    "Starts an active agent with a message and returns the new run's id immediately. Poll the run's status to " +
    "follow it. Other keys of the body are ignored.",
});

export const getAgentRunStatus = read({
  path: "/v1/agents/run/{agentRunId}/status",
  operationId: "getAgentRunStatus",
  tag: "Agents",
  summary: "Status of an agent run",
  description:
    "For polling: after 1 second, then every 2 seconds, until status is Completed, Failed or Cancelled.",
});

export const getAgentRunDetails = read({
  path: "/v1/agents/run/{agentRunId}/details",
  operationId: "getAgentRunDetails",
  tag: "Agents",
  summary: "Details of an agent run, with its steps",
  description: "The status with the finished steps in order, at any time.",
});

export const cancelAgentRun = cancel({
  path: "/v1/agents/run/{agentRunId}/cancel",
  operationId: "cancelAgentRun",
  tag: "Agents",
  summary: "Cancel an agent run",
  description: CANCEL,
});
