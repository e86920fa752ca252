import { z } from "zod";
import { type EndpointRules, endpoint, idParameter } from "@/server/api/endpoint";
import { agentChanges, toolChanges, triggerChanges } from "@/server/catalog/changes-by-key";
import { slug } from "@/server/catalog/definitions";
import {
  listAgentLines,
  listToolLines,
  listTriggerLines,
  readAgent,
  readTool,
  readTrigger,
} from "@/server/catalog/read-definitions";
import { triggerUrl } from "@/server/catalog/webhooks/trigger";
import { DEFINITION_STATUSES, RUN_KINDS } from "@/server/contract/enums";
import { changeEndpoints, createEndpoint, definition } from "./change-definitions";
import { choice, id } from "./filters";
import { listEndpoint } from "./list";

const timestamp = z.iso.datetime({ precision: 3 });
const status = z.enum(DEFINITION_STATUSES);
export const times = { createdAt: timestamp, updatedAt: timestamp };
export const named = { id: z.uuid(), slug: z.string(), name: z.string() };
const versioned = { ...named, version: z.int().min(1).meta({ description: "The current one" }), ...times };

const agentLine = z.object({ ...versioned, status }).meta({ id: "AgentListItem" });
const toolLine = z.object({ ...versioned, description: z.string() }).meta({ id: "ToolListItem" });
const triggerLine = z
  .object({
    ...named,
    status,
    kind: z.enum(RUN_KINDS).meta({ description: "What it starts" }),
    targetId: z.uuid().meta({ description: "The agent or tool" }),
    ...times,
  })
  .meta({ id: "TriggerListItem" });

const versions = z
  .array(z.object({ number: z.int().min(1), note: z.string(), createdAt: timestamp }).meta({ id: "Version" }))
  .meta({ description: "Newest first, at most 100" });

const slugCursor = z.string().refine((text) => slug.safeParse(text).success, "cursor is not valid");

export const exampleTimes = { createdAt: "2026-11-02T09:14:00.000Z", updatedAt: "2026-11-20T16:40:12.000Z" };
export const exampleAgentId = "019aa5c0-0a9f-7c08-b1d4-8e2f6a3b5c70";
const exampleAgent = {
  id: exampleAgentId,
  slug: "helper",
  name: "Helper",
  version: 3,
  status: "active" as const,
  ...exampleTimes,
};
const exampleTool = {
  id: "019aa5c0-0b1d-7f52-a3e9-6c8d2e4f7a15",
  slug: "weather",
  name: "Weather",
  version: 1,
  description: "The weather of a city.",
  ...exampleTimes,
};
const exampleTrigger = {
  id: "019aa5c0-2d17-7e90-a4c6-1b3d5f7a9c21",
  slug: "orders",
  name: "orders",
  status: "active" as const,
  kind: "agent" as const,
  targetId: exampleAgentId,
  ...exampleTimes,
};
const exampleVersions = [{ number: 3, note: "Shorter answers", createdAt: exampleTimes.updatedAt }];

const agent = {
  tag: "Agents",
  name: "agent",
  path: "/v1/agents",
  view: agentLine.extend({ definition, versions }).meta({ id: "Agent" }),
  example: {
    ...exampleAgent,
    definition: { slug: "helper", name: "Helper", model: "gpt-5-mini", systemPrompt: "Help with sums." },
    versions: exampleVersions,
  },
  changes: agentChanges,
  hasVersions: true,
} as const;
const tool = {
  tag: "Tools",
  name: "tool",
  path: "/v1/tools",
  view: toolLine.extend({ definition, versions }).meta({ id: "Tool" }),
  example: {
    ...exampleTool,
    definition: {
      slug: "weather",
      name: "Weather",
      description: exampleTool.description,
      steps: [{ id: "now", uses: "http_request", with: { url: "https://weather.example.com" } }],
    },
    versions: [{ ...exampleVersions[0], number: 1 }],
  },
  changes: toolChanges,
  hasVersions: true,
} as const;
const trigger = {
  tag: "Triggers",
  name: "trigger",
  path: "/v1/triggers",
  view: triggerLine.extend({ definition }).meta({ id: "Trigger" }),
  example: { ...exampleTrigger, definition: { slug: "orders", agent: "helper" } },
  changes: triggerChanges,
} as const;

export const LISTED = {
  scope: "definitions:read",
  cursor: slugCursor,
} as const;
export const READ = {
  method: "GET",
  scope: "definitions:read",
  answers: "view",
  successDescription: "The definition",
} as const satisfies Partial<EndpointRules>;
const ONLY_TARGETS = " A key that is limited to agents and tools gets only those.";

export const agentDefinitions = {
  list: listEndpoint({
    ...LISTED,
    tag: "Agents",
    path: "/v1/agents",
    operationId: "listAgents",
    summary: "List agents",
    description: `The organization's agents by slug, without archived ones.${ONLY_TARGETS}`,
    id: "AgentList",
    item: agentLine,
    filters: { status: choice("status", { among: DEFINITION_STATUSES, description: "Only agents with it" }) },
    example: { item: exampleAgent, filters: { status: "active" } },
    list: (services, actor, { filters, page }) => listAgentLines(services, actor, { ...filters, ...page }),
  }),
  get: endpoint({
    ...READ,
    tag: "Agents",
    path: "/v1/agents/{agentId}",
    operationId: "getAgent",
    summary: "Read an agent",
    description: "The current definition of an agent, as definition files have it, and its versions.",
    input: z.object({ agentId: idParameter("agentId", "agent") }),
    answer: agent.view,
    example: { response: agent.example },
    run: ({ services, actor, input: { agentId } }) => readAgent(services, actor, agentId),
  }),
  create: createEndpoint({
    kind: agent,
    create: async (services, key, given) => (await agentChanges.create(services, key, given)).view,
  }),
  ...changeEndpoints(agent),
};

export const toolDefinitions = {
  list: listEndpoint({
    ...LISTED,
    tag: "Tools",
    path: "/v1/tools",
    operationId: "listTools",
    summary: "List tools",
    description: `The organization's tools by slug, without archived ones.${ONLY_TARGETS}`,
    id: "ToolList",
    item: toolLine,
    filters: {},
    example: { item: exampleTool },
    list: (services, actor, { page }) => listToolLines(services, actor, page),
  }),
  get: endpoint({
    ...READ,
    tag: "Tools",
    path: "/v1/tools/{toolId}",
    operationId: "getTool",
    summary: "Read a tool",
    description: "The current definition of a tool, as definition files have it, and its versions.",
    input: z.object({ toolId: idParameter("toolId", "tool") }),
    answer: tool.view,
    example: { response: tool.example },
    run: ({ services, actor, input: { toolId } }) => readTool(services, actor, toolId),
  }),
  create: createEndpoint({
    kind: tool,
    create: async (services, key, given) => (await toolChanges.create(services, key, given)).view,
  }),
  ...changeEndpoints(tool),
};

export const triggerDefinitions = {
  list: listEndpoint({
    ...LISTED,
    tag: "Triggers",
    path: "/v1/triggers",
    operationId: "listTriggers",
    summary: "List triggers",
    description:
      "The organization's triggers by slug. A key that is limited to agents and tools gets only theirs.",
    id: "TriggerList",
    item: triggerLine,
    filters: { target: id("target", "Only triggers of this agent or tool") },
    example: { item: exampleTrigger },
    list: (services, actor, { filters, page }) => listTriggerLines(services, actor, { ...filters, ...page }),
  }),
  get: endpoint({
    ...READ,
    tag: "Triggers",
    path: "/v1/triggers/{triggerId}",
    operationId: "getTrigger",
    summary: "Read a trigger",
    description: "The definition of a trigger, as definition files have it: without its address and secrets.",
    input: z.object({ triggerId: idParameter("triggerId", "trigger") }),
    answer: trigger.view,
    example: { response: trigger.example },
    run: ({ services, actor, input: { triggerId } }) => readTrigger(services, actor, triggerId),
  }),
  create: createEndpoint({
    kind: trigger,
    generatesSecret: true,
    created: {
      answer: trigger.view
        .extend({
          url: z
            .string()
            .meta({ description: "The address that senders call. It is a secret; no read has it." }),
          secret: z.string().nullable().meta({ description: "The secret that was generated, this once" }),
        })
        .meta({ id: "CreatedTrigger" }),
      example: {
        ...trigger.example,
        url: "https://stepwell.example.com/webhooks/nR2v…",
        secret: "5f3c0b…",
      },
      description: " The answer has the trigger's address and the generated secret, this once.",
    },
    async create(services, key, given) {
      const { view, token, secret } = await triggerChanges.create(services, key, given);
      return { ...view, url: triggerUrl(services.env.appUrl, token), secret };
    },
  }),
  ...changeEndpoints(trigger),
};
