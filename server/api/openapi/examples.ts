import type {
  AgentRunDetailsView,
  AgentRunStatusView,
  RunStarted,
  ToolRunResultView,
  ToolRunStatusView,
  WebhookAccepted,
} from "@/server/contract/shapes";

/** Request and response examples of each operation in the OpenAPI document. */

const AGENT_RUN_ID = "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02";
const TOOL_RUN_ID = "019aa5d1-b7e8-7a36-8c4d-52d0f8b3c614";
const TOOL_ID = "019aa5c0-0b1d-7f52-a3e9-6c8d2e4f7a15";
const CREATED_AT = "2026-11-21T01:22:07.000Z";
const STARTED_AT = "2026-11-21T01:22:07.120Z";

const agentRun: AgentRunStatusView = {
  id: AGENT_RUN_ID,
  agentId: "019aa5c0-0a9f-7c08-b1d4-8e2f6a3b5c70",
  status: "Completed",
  userMessage: "What is 17 * 23?",
  finalOutput: "17 * 23 is 391.",
  errorMessage: null,
  stepsExecuted: 1,
  tokensUsed: 412,
  actionsUsed: 1,
  creditsUsed: 0.0612,
  createdAt: CREATED_AT,
  startedAt: STARTED_AT,
  finishedAt: "2026-11-21T01:22:10.480Z",
};

const agentRunDetails: AgentRunDetailsView = {
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
};

const toolRun: ToolRunStatusView = {
  id: TOOL_RUN_ID,
  toolId: TOOL_ID,
  status: "Running",
  statusInt: 1,
  errorMessage: null,
  tokensUsed: 0,
  actionsUsed: 1,
  createdAt: CREATED_AT,
  startedAt: STARTED_AT,
  finishedAt: null,
  duration: 840,
};

const toolRunResult: ToolRunResultView = {
  id: TOOL_RUN_ID,
  toolId: TOOL_ID,
  toolName: "Stock",
  status: "Completed",
  statusInt: 2,
  inputData: '{"sku":"A-1"}',
  outputData: '{"sku":"A-1","inStock":4}',
  outputSchema: '{"type":"object","properties":{"sku":{"type":"string"},"inStock":{"type":"integer"}}}',
  errorMessage: null,
  tokensUsed: 0,
  actionsUsed: 2,
  duration: 950,
};

const started = (id: string): RunStarted => ({
  success: true,
  id,
  status: "Pending",
  message: "The run was started. Poll its status by its id.",
});

const webhookAccepted: WebhookAccepted = { success: true, runId: AGENT_RUN_ID, type: "agent" };

/** By operationId. */
export const EXAMPLES: Record<string, { request?: object; response: object }> = {
  runTool: { request: { sku: "A-1" }, response: started(TOOL_RUN_ID) },
  runAgent: { request: { userMessage: agentRun.userMessage }, response: started(AGENT_RUN_ID) },
  getToolRunStatus: { response: toolRun },
  getToolRunResult: { response: toolRunResult },
  cancelToolRun: {
    response: {
      ...toolRun,
      status: "Failed",
      statusInt: 3,
      errorMessage: "Cancelled by the API key ci.",
      finishedAt: "2026-11-21T01:22:08.000Z",
    } satisfies ToolRunStatusView,
  },
  getAgentRunStatus: { response: agentRun },
  getAgentRunDetails: { response: agentRunDetails },
  cancelAgentRun: {
    response: { ...agentRun, status: "Cancelled", finalOutput: null } satisfies AgentRunStatusView,
  },
  receiveWebhook: { request: { event: "order.created", order: 42 }, response: webhookAccepted },
};
