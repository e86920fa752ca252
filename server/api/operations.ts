import { z } from "zod";
import type { RunKind } from "@/server/contract/enums";
import { idempotencyKey } from "./openapi/headers";
import type { ApiMeta } from "./trpc";

/**
 * The operations of `/v1`: the metadata of the procedures in v1.ts. The REST handler routes with it, and trpc-to-openapi
 * generates the document from it.
 */

type Declared = NonNullable<ApiMeta["openapi"]>;
type Described = Pick<Declared, "summary" | "description"> & { path: `/${string}`; operationId: string };
type Rules = Pick<Declared, "method" | "scope" | "limit" | "successDescription" | "requestHeaders">;

/** Declares operations of one kind. `errorResponses` is empty because openapi/responses.ts adds our own. */
const operation = (rules: Rules) => (described: Described) => {
  const tag = described.path.startsWith("/v1/tools/") ? "Tools" : "Agents";
  return { openapi: { ...described, ...rules, tags: [tag], errorResponses: {} } } satisfies ApiMeta;
};

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
  successDescription: "The run after the cancel, as far as the key may read it",
});

const CANCEL =
  "Idempotent. A pending run ends immediately, a running one within 30 seconds. What it has used is charged. " +
  "Cancelling an ended run changes nothing. The call needs the scope runs:start and counts as a read. If the key " +
  "lacks the scope runs:read, the answer is RunCancelled, with the status only.";

/** By the path of their procedure. */
export const OPERATIONS = {
  "tools.run": start({
    path: "/v1/tools/run/{toolId}",
    operationId: "runTool",
    summary: "Run a tool",
    description:
      "Starts a tool and returns the new run's id immediately. The body is the tool's input, an object that matches " +
      "the tool's parameters, at most 1 MiB; no body means {}. Poll the run's status to follow it.",
  }),
  "tools.status": read({
    path: "/v1/tools/run/{toolRunId}/status",
    operationId: "getToolRunStatus",
    summary: "Status of a tool run",
    description: "For polling: after 1 second, then every 2 seconds, until status is Completed or Failed.",
  }),
  "tools.result": read({
    path: "/v1/tools/run/{toolRunId}/result",
    operationId: "getToolRunResult",
    summary: "Result of a tool run",
    description:
      'Input, output and output schema, at any time. Until status is Completed, outputData is the text "null".',
  }),
  "tools.cancel": cancel({
    path: "/v1/tools/run/{toolRunId}/cancel",
    operationId: "cancelToolRun",
    summary: "Cancel a tool run",
    description: `${CANCEL} A cancelled tool run is Failed, with the errorMessage “Cancelled by …”.`,
  }),
  "agents.run": start({
    path: "/v1/agents/run/{agentId}",
    operationId: "runAgent",
    summary: "Run an agent",
    description:
      "Starts an active agent with a message and returns the new run's id immediately. Poll the run's status to " +
      "follow it. Other keys of the body are ignored.",
  }),
  "agents.status": read({
    path: "/v1/agents/run/{agentRunId}/status",
    operationId: "getAgentRunStatus",
    summary: "Status of an agent run",
    description:
      "For polling: after 1 second, then every 2 seconds, until status is Completed, Failed or Cancelled.",
  }),
  "agents.details": read({
    path: "/v1/agents/run/{agentRunId}/details",
    operationId: "getAgentRunDetails",
    summary: "Details of an agent run, with its steps",
    description: "The status with the finished steps in order, at any time.",
  }),
  "agents.cancel": cancel({
    path: "/v1/agents/run/{agentRunId}/cancel",
    operationId: "cancelAgentRun",
    summary: "Cancel an agent run",
    description: CANCEL,
  }),
};

/** What the runs of a procedure execute. */
export function kindOfProcedure(procedure: string): RunKind {
  return procedure.startsWith("tools.") ? "tool" : "agent";
}
