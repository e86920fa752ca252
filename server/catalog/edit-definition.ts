import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { AppError, isAppError } from "@/server/base/errors";
import { formatPath, parseOrIssues, rejection } from "@/server/base/issues";
import { markExact } from "@/server/base/json/exact-number";
import { writeJson } from "@/server/base/json/json";
import { fromPointer, jsonPointer } from "@/server/base/json/text";
import { declareTool } from "@/server/catalog/declare";
import type { Services } from "@/server/catalog/services";
import { inputSchemaOf, listFunctions, outputSchemaOf } from "@/server/work/functions/core/registry";
import { WORKFLOW_LIMITS } from "@/server/work/workflow/definition";
import { type Repair, renameTo, type WorkflowIssue } from "@/server/work/workflow/repair";
import { findNamesOfStep, type StepName, textsOf } from "@/server/work/workflow/step-names";
import { blankAgent, describeAgentFields } from "./agent-fields";
import { listAgentModels } from "./agent-rows";
import { type CatalogServices, type Editor, requireRole, type SaveOptions } from "./change";
import { createYaml } from "./definition-file/write-yaml";
import { readYaml, type YamlDocument } from "./definition-file/yaml-document";
import { inUse, newestOr } from "./definition-rows";
import { type AgentDefinition, type ToolDefinition, toolDefinition } from "./definitions";
import { describeModel } from "./organization/describe-model";
import { countAgents } from "./organization/list-model-providers";
import { readOwnProviders } from "./organization/model-providers";
import { agentContent } from "./save-agent";
import { findIssuesOfInvalidTool, findToolIssues, saveTool, type ToolReader } from "./save-tool";
import type { SavedDefinition } from "./save-versioned";

/** The choices and checks of the dashboard's editors of agents and tools. */

export type Choices = Awaited<ReturnType<typeof readChoices>>;
export type ModelChoice = Choices["models"][number];

/**
 * The choices for an agent. Models that agents use come first, most used first, then listed or priced ones. Prices
 * are credits per 1,000 tokens. `otherModel`: the provider and price of any other model.
 */
export async function readChoices(services: Services, actor: MemberActor) {
  const { db, prices, models } = services;
  const tools = await db.tool.findMany({
    where: inUse(actor),
    select: { slug: true, name: true, description: true },
    orderBy: { name: "asc" },
  });
  const agents = await listAgentModels(services.pool, actor.orgId);
  const used = [...countAgents(agents)]
    .sort(([a, left], [b, right]) => right - left || a.localeCompare(b))
    .map(([name]) => name);
  // Not cached: what was just saved is offered.
  const own = await readOwnProviders(db, actor.orgId);
  const offered = [...own.flatMap((each) => each.models), ...models.listed, ...Object.keys(prices.models)];
  const names = new Set([...used, ...offered.sort()]);
  const describe = async (name: string) => {
    const provider = own.find((each) => each.models.includes(name));
    const described = await describeModel(services, { name }, provider);
    return { ...described, provider: provider?.name ?? models.providerOf(name) };
  };
  return {
    models: await Promise.all([...names].map(describe)),
    // No provider lists the empty name: the default one serves it.
    otherModel: await describe(""),
    functions: listFunctions().map(({ name, title, description }) => ({ name, title, description })),
    tools,
    agents: agents.map(({ slug, name }) => ({ slug, name })),
    agentFields: describeAgentFields(),
    blankAgent: blankAgent(),
  };
}

export type FunctionChoice = ReturnType<typeof readFunctions>[number];

/**
 * The functions that a step may use, with the JSON Schema of their input as JSON. `secretFields` may hold secrets,
 * `parsedFields` have a language.
 */
export function readFunctions() {
  return listFunctions().map((definition) => {
    const { name, title, description, secretFields = [], parsedFields = {} } = definition;
    const input = writeJson(inputSchemaOf(definition));
    return { name, title, description, input, secretFields, parsedFields };
  });
}

/** The JSON Schemas of a tool's definition and of the functions' outputs, as JSON, for completion. */
export function readToolSchemas(): string {
  const outputs = listFunctions().map((each) => [each.name, outputSchemaOf(each)] as const);
  const tool = z.toJSONSchema(toolDefinition, { io: "input", unrepresentable: "any" });
  return writeJson({ tool, outputs: Object.fromEntries(outputs) });
}

/**
 * An agent's definition as `saveAgent` takes it, with the current version's number. `number`: another version to read.
 * Throws `not_found`.
 */
export async function readAgentDefinition(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { agentId, number }: { agentId: string; number?: number | undefined },
): Promise<{ version: number; definition: AgentDefinition }> {
  const agent = await db.agent.findFirst({
    where: { id: agentId, ...inUse(actor) },
    include: { versions: newestOr(number) },
  });
  if (!agent) throw new AppError("not_found", "Agent not found.");
  const [read] = agent.versions;
  if (!read) throw new AppError("not_found", `There is no version ${number}.`);
  const { slug, name, status, version } = agent;
  return { version, definition: { slug, name, status, ...agentContent(read) } };
}

/** An agent for its form. Pages get plain JSON: fields with numbers that it would change are in the text `exact`. */
export type EditedAgent = { version: number; definition: AgentDefinition; exact: string | null };

/** An agent's definition for its form. Throws `not_found`. */
export async function readEditedAgent(
  services: Pick<Services, "db">,
  actor: MemberActor,
  reference: { agentId: string },
): Promise<EditedAgent> {
  const { version, definition } = await readAgentDefinition(services, actor, reference);
  const { modelOptions, outputSchema, ...plain } = definition;
  const text = writeJson({ modelOptions, outputSchema });
  return markExact(text) === text
    ? { version, definition, exact: null }
    : { version, definition: plain, exact: text };
}

type ToolText = { version: number; slug: string; name: string; description: string; yaml: string };

/** A tool's definition as files declare it, with the current version's number. Throws `not_found`. */
export async function readToolDefinition(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { toolId, number }: { toolId: string; number?: number | undefined },
): Promise<Omit<ToolText, "yaml"> & { declared: Record<string, unknown> }> {
  const tool = await db.tool.findFirst({
    where: { id: toolId, ...inUse(actor) },
    include: { versions: newestOr(number) },
  });
  if (!tool) throw new AppError("not_found", "Tool not found.");
  const [read] = tool.versions;
  if (!read) throw new AppError("not_found", `There is no version ${number}.`);
  const { slug, name, description, version } = tool;
  return { version, slug, name, description, declared: declareTool({ slug, name, description, ...read }) };
}

/** A tool's current definition as YAML. Throws `not_found`. */
export async function readToolText(
  services: Pick<Services, "db">,
  actor: MemberActor,
  { toolId }: { toolId: string },
): Promise<ToolText> {
  const { declared, ...tool } = await readToolDefinition(services, actor, { toolId });
  return { ...tool, yaml: createYaml(declared).toString({ lineWidth: 0 }) };
}

/**
 * An issue of a text at its line, from 1 (null: the complete text). `message` is a sentence with line and location.
 * `repair`: the change that settles it, if there is exactly one.
 */
export type TextIssue = {
  line: number | null;
  path: (string | number)[];
  issue: string;
  message: string;
  repair?: Repair | undefined;
};

/** Finds every issue of a tool's YAML, as saving it would. */
export async function checkToolText(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { yaml }: { yaml: string },
): Promise<TextIssue[]> {
  const read = await readTool(yaml, { tx: db, actor });
  if ("problems" in read) return read.problems;
  return textIssuesOf(read.document, await findToolIssues(read.definition, { tx: db, actor }));
}

/** Reads and checks a tool's YAML as saving does. Throws `invalid_request` with every issue, as `saveToolText` does. */
export async function readCheckedTool(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  yaml: string,
): Promise<ToolDefinition> {
  const read = await readTool(yaml, { tx: db, actor });
  if ("problems" in read) throw reject(read.problems);
  const issues = await findToolIssues(read.definition, { tx: db, actor });
  if (issues.length > 0) throw reject(textIssuesOf(read.document, issues));
  return read.definition;
}

/** Saves a tool from its YAML. Throws `invalid_request` with every issue; their paths begin with `/definition`. */
export async function saveToolText(
  services: CatalogServices,
  actor: Editor,
  { yaml, ...options }: { yaml: string } & SaveOptions,
): Promise<SavedDefinition> {
  requireRole(actor, "member");
  const read = await readTool(yaml, { tx: services.db, actor });
  if ("problems" in read) throw reject(read.problems);
  try {
    return await saveTool(services, actor, { definition: read.definition, ...options });
  } catch (error) {
    // An error about no part of the definition, such as a newer version, has no line.
    if (!isAppError(error) || error.issues === undefined || error.issues.every(({ path }) => path === ""))
      throw error;
    throw reject(textIssuesOf(read.document, error.issues));
  }
}

type ReadTool = { definition: ToolDefinition; document: YamlDocument } | { problems: TextIssue[] };

/** A place in a tool that names a step: the text at a path, and where the names begin and end in it. */
export type StepMention = { path: (string | number)[]; text: string; names: StepName[] };

/** Finds every expression of a tool's YAML that names a step. Texts with a syntax error have none. */
export async function findStepMentions(
  _: unknown,
  actor: MemberActor,
  { yaml, step }: { yaml: string; step: string },
): Promise<StepMention[]> {
  const document = await readYaml(yaml, actor.orgId, LIMITS);
  if ("issues" in document) return [];
  const mentions: StepMention[] = [];
  for (const { path, text, isCondition } of textsOf(document.value)) {
    if (!text.includes(step)) continue;
    const names = await findNamesOfStep(text, { step, isCondition, organizationId: actor.orgId });
    if (names.length > 0) mentions.push({ path, text, names });
  }
  return mentions;
}

// A tool of 100 long steps has a fifth of the parts. One turn of the event loop checks the value.
const LIMITS = { parts: 50_000, weight: 2 * WORKFLOW_LIMITS.definitionBytes, timeoutMs: 10_000 };

async function readTool(yaml: string, reader: ToolReader): Promise<ReadTool> {
  const document = await readYaml(yaml, reader.actor.orgId, LIMITS);
  if ("issues" in document)
    return {
      problems: document.issues.map(({ line, message }) => ({ line, message, path: [], issue: message })),
    };
  const parsed = parseOrIssues(toolDefinition, document.value);
  if ("data" in parsed) return { definition: parsed.data, document };
  const others = await findIssuesOfInvalidTool(document.value, reader);
  // Further issues are not shown: a repair for each of thousands would take long.
  const ofSchema = parsed.issues.slice(0, WORKFLOW_LIMITS.problems).map(({ findMeant, ...issue }) => {
    const meant = findMeant?.();
    return meant === undefined ? issue : { ...issue, repair: renameTo(meant) };
  });
  const issues = [...ofSchema, ...others].slice(0, WORKFLOW_LIMITS.problems);
  return { problems: textIssuesOf(document, issues) };
}

function textIssuesOf(document: YamlDocument, issues: readonly WorkflowIssue[]): TextIssue[] {
  return issues.map(({ path, message, repair }) => {
    const keys = fromPointer(path);
    return {
      line: document.lineAt(keys),
      message: `${formatPath(keys)} ${message}`.trim(),
      path: keys,
      issue: message,
      ...(repair && { repair }),
    };
  });
}

const reject = (problems: readonly TextIssue[]) =>
  rejection(
    problems.map(({ path, issue }) => ({ path: jsonPointer(["definition", ...path]), message: issue })),
  );
