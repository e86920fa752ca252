/**
 * Programs with generated OpenAPI clients. They are strings, because the modules they import exist only during the
 * test.
 */

export const PROGRAM_TYPES = `
export type Given = { baseUrl: string; key: string; agentId: string; toolId: string; pingId: string; token: string };
export type Seen = {
  agent: { status: string; finalOutput: string | null; steps: string[] };
  tool: { status: string; statusInt: number; outputData: string };
  ping: string;
  webhook: { type: string; outputData: string };
  issue: { code: string; issues: string[]; requestId: string };
};
export const wait = () => new Promise<void>((resolve) => setTimeout(resolve, 25));
`;

export const OPENAPI_FETCH_PROGRAM = `
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";
import { type Given, type Seen, wait } from "./program";

const isOpen = (status: components["schemas"]["AgentRunStatus"] | components["schemas"]["ToolRunStatus"]) =>
  status === "Pending" || status === "Running";

export async function run({ baseUrl, key, agentId, toolId, pingId, token }: Given): Promise<Seen> {
  const client = createClient<paths>({ baseUrl, headers: { "X-API-Key": key } });
  const resultOf = async (toolRunId: string) => {
    for (;;) {
      const { data, error } = await client.GET("/v1/tools/run/{toolRunId}/status", { params: { path: { toolRunId } } });
      if (error) throw new Error(error.message);
      if (!isOpen(data.status)) break;
      await wait();
    }
    const { data, error } = await client.GET("/v1/tools/run/{toolRunId}/result", { params: { path: { toolRunId } } });
    if (error) throw new Error(error.message);
    return data;
  };

  const agent = await client.POST("/v1/agents/run/{agentId}", {
    params: { path: { agentId }, header: { "Idempotency-Key": "fetch-1" } },
    body: { userMessage: "What is 17 * 23?" },
  });
  if (agent.error) throw new Error(agent.error.message);
  const agentRunId = agent.data.id;
  for (;;) {
    const { data, error } = await client.GET("/v1/agents/run/{agentRunId}/status", { params: { path: { agentRunId } } });
    if (error) throw new Error(error.message);
    if (!isOpen(data.status)) break;
    await wait();
  }
  const details = await client.GET("/v1/agents/run/{agentRunId}/details", { params: { path: { agentRunId } } });
  if (details.error) throw new Error(details.error.message);

  const tool = await client.POST("/v1/tools/run/{toolId}", { params: { path: { toolId } }, body: { sku: "A-1" } });
  if (tool.error) throw new Error(tool.error.message);
  const { status, statusInt, outputData } = await resultOf(tool.data.id);
  const ping = await client.POST("/v1/tools/run/{toolId}", { params: { path: { toolId: pingId } } });
  if (ping.error) throw new Error(ping.error.message);
  const hook = await client.POST("/webhooks/{token}", { params: { path: { token } }, body: { sku: "B-2", tags: [1, null] } });
  if (hook.error) throw new Error(hook.error.message);
  if (hook.data.runId === null) throw new Error("The call was filtered.");

  const rejected = await client.POST("/v1/agents/run/{agentId}", { params: { path: { agentId } }, body: { userMessage: "" } });
  if (!rejected.error) throw new Error("An empty message was accepted.");
  const { code, issues = [], requestId } = rejected.error;
  return {
    agent: {
      status: details.data.status,
      finalOutput: details.data.finalOutput,
      steps: details.data.steps.map((step) => step.toolName),
    },
    tool: { status, statusInt, outputData },
    ping: (await resultOf(ping.data.id)).outputData,
    webhook: { type: hook.data.type, outputData: (await resultOf(hook.data.runId)).outputData },
    issue: { code, issues: issues.map(({ path }) => path), requestId },
  };
}
`;

export const HEY_API_PROGRAM = `
import { getAgentRunDetails, getAgentRunStatus, getToolRunResult, getToolRunStatus, receiveWebhook, runAgent, runTool } from "./hey-api";
import { createClient } from "./hey-api/client";
import type { AgentRunStatus, ToolRunStatus } from "./hey-api";
import { type Given, type Seen, wait } from "./program";

const isOpen = (status: AgentRunStatus | ToolRunStatus) => status === "Pending" || status === "Running";

export async function run({ baseUrl, key, agentId, toolId, pingId, token }: Given): Promise<Seen> {
  const client = createClient({ baseUrl, auth: key });
  const options = { client, throwOnError: true } as const;
  const resultOf = async (toolRunId: string) => {
    const path = { toolRunId };
    while (isOpen((await getToolRunStatus({ ...options, path })).data.status)) await wait();
    return (await getToolRunResult({ ...options, path })).data;
  };

  const agent = await runAgent({
    ...options,
    path: { agentId },
    headers: { "Idempotency-Key": "hey-1" },
    body: { userMessage: "What is 17 * 23?" },
  });
  const path = { agentRunId: agent.data.id };
  while (isOpen((await getAgentRunStatus({ ...options, path })).data.status)) await wait();
  const details = await getAgentRunDetails({ ...options, path });

  const tool = await runTool({ ...options, path: { toolId }, body: { sku: "A-1" } });
  const { status, statusInt, outputData } = await resultOf(tool.data.id);
  const ping = await runTool({ ...options, path: { toolId: pingId } });
  const hook = await receiveWebhook({ ...options, path: { token }, body: { sku: "B-2", tags: [1, null] } });
  if (hook.data.runId === null) throw new Error("The call was filtered.");

  const rejected = await runAgent({ client, path: { agentId }, body: { userMessage: "" } });
  if (!rejected.error) throw new Error("An empty message was accepted.");
  const { code, issues = [], requestId } = rejected.error;
  return {
    agent: { status: details.data.status, finalOutput: details.data.finalOutput, steps: details.data.steps.map((step) => step.toolName) },
    tool: { status, statusInt, outputData },
    ping: (await resultOf(ping.data.id)).outputData,
    webhook: { type: hook.data.type, outputData: (await resultOf(hook.data.runId)).outputData },
    issue: { code, issues: issues.map((issue) => issue.path), requestId },
  };
}
`;

export const PYTHON_PROGRAM = `
import json, sys, time
from stepwell_client import AuthenticatedClient
from stepwell_client.api.agents import get_agent_run_details, get_agent_run_status, run_agent
from stepwell_client.api.tools import get_tool_run_result, get_tool_run_status, run_tool
from stepwell_client.api.webhooks import receive_webhook
from stepwell_client.models import AgentRunStatus, StartAgentRun, ToolInput, ToolRunStatus
from uuid import UUID

given = json.loads(sys.argv[1])
client = AuthenticatedClient(base_url=given["baseUrl"], token=given["key"], prefix="", auth_header_name="X-API-Key")

def result_of(run_id):
    while get_tool_run_status.sync(run_id, client=client).status in (ToolRunStatus.PENDING, ToolRunStatus.RUNNING):
        time.sleep(0.025)
    return get_tool_run_result.sync(run_id, client=client)

agent = run_agent.sync(UUID(given["agentId"]), client=client, body=StartAgentRun(user_message="What is 17 * 23?"), idempotency_key="py-1")
while get_agent_run_status.sync(agent.id, client=client).status in (AgentRunStatus.PENDING, AgentRunStatus.RUNNING):
    time.sleep(0.025)
details = get_agent_run_details.sync(agent.id, client=client)
tool = result_of(run_tool.sync(UUID(given["toolId"]), client=client, body=ToolInput.from_dict({"sku": "A-1"})).id)
ping = result_of(run_tool.sync(UUID(given["pingId"]), client=client).id)
hook = receive_webhook.sync(given["token"], client=client, body={"sku": "B-2", "tags": [1, None]})
rejected = run_agent.sync(UUID(given["agentId"]), client=client, body=StartAgentRun(user_message=""))
print(json.dumps({
    "agent": {"status": details.status.value, "finalOutput": details.final_output, "steps": [step.tool_name for step in details.steps]},
    "tool": {"status": tool.status.value, "statusInt": int(tool.status_int), "outputData": tool.output_data},
    "ping": ping.output_data,
    "webhook": {"type": hook.type_.value, "outputData": result_of(hook.run_id).output_data},
    "issue": {"code": rejected.code.value, "issues": [issue.path for issue in rejected.issues], "requestId": rejected.request_id},
}))
`;
