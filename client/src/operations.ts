// Generated from the OpenAPI document by `npm run docs:generate`.

import type { OperationId } from "./types.js";

type Operation = {
  method: string;
  path: string;
  /** If true, an attempt that may have arrived is repeated. */
  repeat: "always" | "with-key" | "never";
  /** The media types of answers that are texts. */
  texts?: readonly string[];
};

export const OPERATIONS: Readonly<Record<OperationId, Operation>> = {
  applyDefinitionFile: { method: "POST", path: "/v1/apply", repeat: "never" },
  archiveAgent: { method: "DELETE", path: "/v1/agents/{agentId}", repeat: "always" },
  archiveCallback: { method: "DELETE", path: "/v1/callbacks/{callbackId}", repeat: "always" },
  archiveSchedule: { method: "DELETE", path: "/v1/schedules/{scheduleId}", repeat: "always" },
  archiveTool: { method: "DELETE", path: "/v1/tools/{toolId}", repeat: "always" },
  archiveTrigger: { method: "DELETE", path: "/v1/triggers/{triggerId}", repeat: "always" },
  cancelAgentRun: { method: "POST", path: "/v1/agents/run/{agentRunId}/cancel", repeat: "always" },
  cancelRun: { method: "POST", path: "/v1/runs/{runId}/cancel", repeat: "always" },
  cancelToolRun: { method: "POST", path: "/v1/tools/run/{toolRunId}/cancel", repeat: "always" },
  createAgent: { method: "POST", path: "/v1/agents", repeat: "never" },
  createCallback: { method: "POST", path: "/v1/callbacks", repeat: "never" },
  createSchedule: { method: "POST", path: "/v1/schedules", repeat: "never" },
  createTool: { method: "POST", path: "/v1/tools", repeat: "never" },
  createTrigger: { method: "POST", path: "/v1/triggers", repeat: "never" },
  estimateAgentRun: { method: "POST", path: "/v1/agents/{agentId}/estimate", repeat: "always" },
  estimateToolRun: { method: "POST", path: "/v1/tools/{toolId}/estimate", repeat: "always" },
  exportDefinitionFile: { method: "GET", path: "/v1/export", repeat: "always", texts: ["application/yaml"] },
  followAgentRun: { method: "GET", path: "/v1/agents/run/{agentRunId}/events", repeat: "always" },
  followToolRun: { method: "GET", path: "/v1/tools/run/{toolRunId}/events", repeat: "always" },
  forkRun: { method: "POST", path: "/v1/runs/{runId}/fork", repeat: "with-key" },
  getAgent: { method: "GET", path: "/v1/agents/{agentId}", repeat: "always" },
  getAgentRunDetails: { method: "GET", path: "/v1/agents/run/{agentRunId}/details", repeat: "always" },
  getAgentRunStatus: { method: "GET", path: "/v1/agents/run/{agentRunId}/status", repeat: "always" },
  getCallback: { method: "GET", path: "/v1/callbacks/{callbackId}", repeat: "always" },
  getCredits: { method: "GET", path: "/v1/credits", repeat: "always" },
  getMetrics: { method: "GET", path: "/v1/metrics", repeat: "always" },
  getRun: { method: "GET", path: "/v1/runs/{runId}", repeat: "always" },
  getRunReceipt: { method: "GET", path: "/v1/runs/{runId}/receipt", repeat: "always" },
  getSchedule: { method: "GET", path: "/v1/schedules/{scheduleId}", repeat: "always" },
  getTool: { method: "GET", path: "/v1/tools/{toolId}", repeat: "always" },
  getToolRunResult: { method: "GET", path: "/v1/tools/run/{toolRunId}/result", repeat: "always" },
  getToolRunStatus: { method: "GET", path: "/v1/tools/run/{toolRunId}/status", repeat: "always" },
  getTrigger: { method: "GET", path: "/v1/triggers/{triggerId}", repeat: "always" },
  listAgents: { method: "GET", path: "/v1/agents", repeat: "always" },
  listCallbacks: { method: "GET", path: "/v1/callbacks", repeat: "always" },
  listCreditEntries: { method: "GET", path: "/v1/credits/entries", repeat: "always" },
  listDeliveries: { method: "GET", path: "/v1/deliveries", repeat: "always" },
  listRuns: { method: "GET", path: "/v1/runs", repeat: "always" },
  listSchedules: { method: "GET", path: "/v1/schedules", repeat: "always" },
  listTools: { method: "GET", path: "/v1/tools", repeat: "always" },
  listTriggers: { method: "GET", path: "/v1/triggers", repeat: "always" },
  receiveWebhook: { method: "POST", path: "/webhooks/{token}", repeat: "with-key" },
  redeliver: { method: "POST", path: "/v1/deliveries/{deliveryId}/redeliver", repeat: "with-key" },
  rerunRun: { method: "POST", path: "/v1/runs/{runId}/rerun", repeat: "with-key" },
  runAgent: { method: "POST", path: "/v1/agents/run/{agentId}", repeat: "with-key" },
  runTool: { method: "POST", path: "/v1/tools/run/{toolId}", repeat: "with-key" },
  updateAgent: { method: "PATCH", path: "/v1/agents/{agentId}", repeat: "never" },
  updateCallback: { method: "PATCH", path: "/v1/callbacks/{callbackId}", repeat: "never" },
  updateSchedule: { method: "PATCH", path: "/v1/schedules/{scheduleId}", repeat: "never" },
  updateTool: { method: "PATCH", path: "/v1/tools/{toolId}", repeat: "never" },
  updateTrigger: { method: "PATCH", path: "/v1/triggers/{triggerId}", repeat: "never" },
};
