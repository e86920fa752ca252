import { z } from "zod";
import { idParameter } from "@/server/api/endpoint";
import { AppError } from "@/server/base/errors";
import { rejectInvalidText } from "@/server/base/json/body";
import {
  type AgentRunStatusView,
  agentRunDetailsView,
  agentRunStatusView,
  startAgentBody,
} from "@/server/contract/shapes";
import { formatLimit, MAX_START_AGENT_BODY_BYTES, MAX_USER_MESSAGE_BYTES } from "@/server/contract/sizes";
import type { StartRequest } from "@/server/runs/prepare-start";
import { readFinishedSteps, sizeOfSteps } from "@/server/runs/read/read-run";
import { agentRunDetails, agentRunStatus } from "@/server/runs/read/views";
import { CANCEL, cancelEndpoint, EVENTS, eventsEndpoint, exampleEvents, POLLING, viewEndpoint } from "./run";
import { ESTIMATE, estimateEndpoint, startEndpoint } from "./start";

const AGENT = { kind: "agent", tag: "Agents" } as const;

const agentRun: AgentRunStatusView = {
  id: "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02",
  agentId: "019aa5c0-0a9f-7c08-b1d4-8e2f6a3b5c70",
  status: "Completed",
  userMessage: "What is 17 * 23?",
  finalOutput: "17 * 23 is 391.",
  errorMessage: null,
  stepsExecuted: 1,
  tokensUsed: 412,
  actionsUsed: 1,
  creditsUsed: 0.0612,
  createdAt: "2026-11-21T01:22:07.000Z",
  startedAt: "2026-11-21T01:22:07.120Z",
  finishedAt: "2026-11-21T01:22:10.480Z",
};

type AgentStart = { agentId: string; body: z.output<typeof startAgentBody> };
export const agentStart = {
  ...AGENT,
  input: z.object({ agentId: idParameter("agentId", "agent"), body: startAgentBody }),
  body: { maxBytes: MAX_START_AGENT_BODY_BYTES },
  example: { userMessage: agentRun.userMessage },
  async request({ agentId, body: { userMessage } }: AgentStart): Promise<StartRequest> {
    if (Buffer.byteLength(userMessage) > MAX_USER_MESSAGE_BYTES) {
      const message = `userMessage is larger than ${formatLimit(MAX_USER_MESSAGE_BYTES)}.`;
      throw new AppError("payload_too_large", message);
    }
    await rejectInvalidText(userMessage, "/userMessage");
    return { kind: "agent", targetId: agentId, userMessage };
  },
};

export const agents = {
  run: startEndpoint({
    ...agentStart,
    path: "/v1/agents/run/{agentId}",
    operationId: "runAgent",
    summary: "Run an agent",
    description:
      "Starts an active agent with a message and returns the new run's id immediately. Poll the run's status to " +
      "follow it. Other keys of the body are ignored.",
  }),

  estimate: estimateEndpoint({
    ...agentStart,
    path: "/v1/agents/{agentId}/estimate",
    operationId: "estimateAgentRun",
    summary: "Estimate a run of an agent",
    description: ESTIMATE,
  }),

  status: viewEndpoint({
    ...AGENT,
    path: "/v1/agents/run/{agentRunId}/status",
    operationId: "getAgentRunStatus",
    summary: "Status of an agent run",
    description: `For polling, until status is Completed, Failed or Cancelled: ${POLLING}`,
    view: agentRunStatusView,
    example: agentRun,
    viewRun: (_services, run) => agentRunStatus(run),
  }),

  details: viewEndpoint({
    ...AGENT,
    path: "/v1/agents/run/{agentRunId}/details",
    operationId: "getAgentRunDetails",
    summary: "Details of an agent run, with its steps",
    description: "The status with the finished steps in order, at any time.",
    view: agentRunDetailsView,
    example: {
      ...agentRun,
      steps: [
        {
          stepNumber: 1,
          iterationNumber: 1,
          toolName: "calculate",
          inputData: '{"expression":"17 * 23"}',
          outputData: "391",
          reasoning: "I work this out with calculate.",
          tokenUsage: { inputTokens: 180, outputTokens: 24 },
          duration: 3,
        },
      ],
    },
    async render({ services, actor, call: { memory } }, run) {
      // The rows, and their JSON as text and as bytes.
      await memory.hold(await sizeOfSteps(services, actor.orgId, run.id));
      return agentRunDetails(run, await readFinishedSteps(services, actor.orgId, run.id));
    },
  }),

  events: eventsEndpoint({
    ...AGENT,
    path: "/v1/agents/run/{agentRunId}/events",
    operationId: "followAgentRun",
    summary: "Events of an agent run",
    description: EVENTS,
    view: (_services, run) => agentRunStatus(run),
    example: exampleEvents(agentRun),
  }),

  cancel: cancelEndpoint({
    ...AGENT,
    path: "/v1/agents/run/{agentRunId}/cancel",
    operationId: "cancelAgentRun",
    summary: "Cancel an agent run",
    description: CANCEL,
    view: agentRunStatusView,
    example: { ...agentRun, status: "Cancelled", finalOutput: null },
    render: (_services, run) => agentRunStatus(run),
  }),
};
