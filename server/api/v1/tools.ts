import { z } from "zod";
import { idParameter } from "@/server/api/endpoint";
import { rejectInvalidText } from "@/server/base/json/body";
import { isJsonObject, type JsonObject } from "@/server/base/json/json";
import { type ToolRunStatusView, toolRunResultView, toolRunStatusView } from "@/server/contract/shapes";
import { formatLimit, MAX_BODY_BYTES } from "@/server/contract/sizes";
import type { StartRequest } from "@/server/runs/prepare-start";
import { readConfiguration } from "@/server/runs/read/read-run";
import { toolRunResult, toolRunStatus } from "@/server/runs/read/views";
import { CANCEL, cancelEndpoint, EVENTS, eventsEndpoint, exampleEvents, POLLING, viewEndpoint } from "./run";
import { ESTIMATE, estimateEndpoint, startEndpoint } from "./start";

const TOOL = { kind: "tool", tag: "Tools" } as const;

// As parsed: no key is dropped or renamed.
const toolInput = z.custom<JsonObject>(isJsonObject, "The body must be a JSON object").meta({
  id: "ToolInput",
  description: "The tool's input. The service checks it against the tool's own parameter schema.",
  override: { type: "object", additionalProperties: true },
});

const toolRun: ToolRunStatusView = {
  id: "019aa5d1-b7e8-7a36-8c4d-52d0f8b3c614",
  toolId: "019aa5c0-0b1d-7f52-a3e9-6c8d2e4f7a15",
  status: "Running",
  statusInt: 1,
  errorMessage: null,
  tokensUsed: 0,
  actionsUsed: 1,
  createdAt: "2026-11-21T01:22:07.000Z",
  startedAt: "2026-11-21T01:22:07.120Z",
  finishedAt: null,
  duration: 840,
};

export const toolStart = {
  ...TOOL,
  input: z.object({ toolId: idParameter("toolId", "tool"), body: toolInput }),
  body: { maxBytes: MAX_BODY_BYTES, optional: true },
  example: { sku: "A-1" },
  async request({ toolId, body }: { toolId: string; body: JsonObject }): Promise<StartRequest> {
    await rejectInvalidText(body);
    return { kind: "tool", targetId: toolId, input: body };
  },
} as const;

export const tools = {
  run: startEndpoint({
    ...toolStart,
    path: "/v1/tools/run/{toolId}",
    operationId: "runTool",
    summary: "Run a tool",
    description:
      "Starts a tool and returns the new run's id immediately. The body is the tool's input, an object that matches " +
      `the tool's parameters, at most ${formatLimit(MAX_BODY_BYTES)}; no body means {}. Poll the run's status to follow it.`,
  }),

  estimate: estimateEndpoint({
    ...toolStart,
    path: "/v1/tools/{toolId}/estimate",
    operationId: "estimateToolRun",
    summary: "Estimate a run of a tool",
    description: ESTIMATE,
  }),

  status: viewEndpoint({
    ...TOOL,
    path: "/v1/tools/run/{toolRunId}/status",
    operationId: "getToolRunStatus",
    summary: "Status of a tool run",
    description: `For polling, until status is Completed or Failed: ${POLLING}`,
    view: toolRunStatusView,
    example: toolRun,
    viewRun: ({ clock }, run) => toolRunStatus(run, clock.now()),
  }),

  result: viewEndpoint({
    ...TOOL,
    path: "/v1/tools/run/{toolRunId}/result",
    operationId: "getToolRunResult",
    summary: "Result of a tool run",
    description:
      'Input, output and output schema, at any time. Until status is Completed, outputData is the text "null".',
    view: toolRunResultView,
    example: {
      id: toolRun.id,
      toolId: toolRun.toolId,
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
    },
    async render({ services, actor, call: { memory } }, run) {
      const configuration = await readConfiguration(services, actor.orgId, run.configurationHash);
      return toolRunResult(run, configuration, { now: services.clock.now(), memory });
    },
  }),

  events: eventsEndpoint({
    ...TOOL,
    path: "/v1/tools/run/{toolRunId}/events",
    operationId: "followToolRun",
    summary: "Events of a tool run",
    description: EVENTS,
    view: ({ clock }, run) => toolRunStatus(run, clock.now()),
    example: exampleEvents(toolRun),
  }),

  cancel: cancelEndpoint({
    ...TOOL,
    path: "/v1/tools/run/{toolRunId}/cancel",
    operationId: "cancelToolRun",
    summary: "Cancel a tool run",
    description: `${CANCEL} A cancelled tool run is Failed, with the errorMessage “Cancelled by …”.`,
    view: toolRunStatusView,
    example: {
      ...toolRun,
      status: "Failed",
      statusInt: 3,
      errorMessage: "Cancelled by the API key ci.",
      finishedAt: "2026-11-21T01:22:08.000Z",
    },
    render: ({ clock }, run) => toolRunStatus(run, clock.now()),
  }),
};
