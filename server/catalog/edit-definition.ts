import { stringify } from "yaml";
import type { MemberActor } from "@/server/auth/actor";
import { AppError, type Issue, isAppError } from "@/server/errors";
import { listFunctions } from "@/server/functions/registry";
import type { Services } from "@/server/services";
import { type CatalogServices, type Editor, type Expectation, requireRole } from "./change";
import { declareTool } from "./definition-file/declare";
import { readYaml, type YamlDocument } from "./definition-file/yaml-document";
import { type AgentDefinition, type ToolDefinition, toolDefinition } from "./definitions";
import { describeFaults, fromPointer, refusal } from "./issues";
import { findToolFaults, type SavedTool, saveTool } from "./save-tool";

/** What the dashboard's editors of agents and tools read and check. */

/** What an agent may use. Models are suggestions: those with a price and those that agents use. */
export type Choices = {
  models: string[];
  functions: { name: string; title: string; description: string }[];
  tools: { slug: string; name: string; description: string }[];
};

export async function readChoices({ db, prices }: Services, actor: MemberActor): Promise<Choices> {
  const inUse = { organizationId: actor.orgId, deletedAt: null };
  const tools = await db.tool.findMany({
    where: inUse,
    select: { slug: true, name: true, description: true },
    orderBy: { name: "asc" },
  });
  const agents = await db.agent.findMany({
    where: inUse,
    select: { versions: { orderBy: { number: "desc" }, take: 1, select: { model: true } } },
  });
  const used = agents.flatMap(({ versions }) => versions.map(({ model }) => model));
  return {
    models: [...new Set([...used, ...Object.keys(prices.models)])].sort(),
    functions: listFunctions().map(({ name, title, description }) => ({ name, title, description })),
    tools,
  };
}

/** An agent's definition as `saveAgent` takes it, with the version it is from. Throws `not_found`. */
export async function readAgentDefinition(
  { db }: Services,
  actor: MemberActor,
  agentId: string,
): Promise<{ version: number; definition: AgentDefinition }> {
  const agent = await db.agent.findFirst({
    where: { id: agentId, organizationId: actor.orgId, deletedAt: null },
    include: { versions: { orderBy: { number: "desc" }, take: 1 } },
  });
  const current = agent?.versions[0];
  if (!agent || !current) throw new AppError("not_found", "Agent not found.");
  const tools = await db.tool.findMany({
    where: { organizationId: actor.orgId, id: { in: current.toolIds }, deletedAt: null },
    select: { slug: true },
  });
  const { model, systemPrompt, maxSteps, functions, deadlineSeconds, maxCredits } = current;
  return {
    version: agent.version,
    definition: {
      slug: agent.slug,
      name: agent.name,
      status: agent.status,
      model,
      systemPrompt,
      maxSteps,
      functions,
      tools: tools.map(({ slug }) => slug),
      maxCredits: maxCredits?.toFixed() ?? null,
      deadlineSeconds,
    },
  };
}

/** A tool's definition as YAML, with the version it is from. Throws `not_found`. */
export async function readToolText(
  { db }: Services,
  actor: MemberActor,
  toolId: string,
): Promise<{ version: number; slug: string; name: string; yaml: string }> {
  const tool = await db.tool.findFirst({
    where: { id: toolId, organizationId: actor.orgId, deletedAt: null },
    include: { versions: { orderBy: { number: "desc" }, take: 1 } },
  });
  const current = tool?.versions[0];
  if (!tool || !current) throw new AppError("not_found", "Tool not found.");
  const { slug, name, description, version } = tool;
  const declared = declareTool({ slug, name, description, ...current });
  return { version, slug, name, yaml: stringify(declared, { lineWidth: 0, aliasDuplicateObjects: false }) };
}

/** A fault of a text: its line from 1, null for the whole text, and a sentence. */
export type TextProblem = { line: number | null; message: string };

/** Finds every fault of a tool's YAML, as saving it would. */
export async function checkToolText(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  yaml: string,
): Promise<TextProblem[]> {
  const read = readTool(yaml);
  if ("problems" in read) return read.problems;
  return problemsOf(read.document, await findToolFaults(read.definition, { tx: db, actor }));
}

/** Saves a tool from its YAML. Throws `invalid_request` with every fault; an issue's path is `/line/N`. */
export async function saveToolText(
  services: CatalogServices,
  actor: Editor,
  { yaml, expected }: { yaml: string; expected: Expectation },
): Promise<SavedTool> {
  requireRole(actor, "member");
  const read = readTool(yaml);
  if ("problems" in read) throw refuse(read.problems);
  try {
    return await saveTool(services, actor, read.definition, expected);
  } catch (error) {
    if (!isAppError(error) || error.issues === undefined) throw error;
    throw refuse(problemsOf(read.document, error.issues));
  }
}

type ReadTool = { definition: ToolDefinition; document: YamlDocument } | { problems: TextProblem[] };

function readTool(yaml: string): ReadTool {
  const document = readYaml(yaml);
  if ("faults" in document) return { problems: document.faults };
  const parsed = toolDefinition.safeParse(document.value);
  if (parsed.success) return { definition: parsed.data, document };
  return { problems: problemsOf(document, describeFaults(parsed.error, document.value)) };
}

function problemsOf(document: YamlDocument, issues: readonly Issue[]): TextProblem[] {
  return issues.map(({ path, message }) => {
    const keys = fromPointer(path);
    const name = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
    return { line: document.lineAt(keys), message: `${name.replace(/^\./, "")} ${message}`.trim() };
  });
}

const refuse = (problems: readonly TextProblem[]) =>
  refusal(problems.map(({ line, message }) => ({ path: line === null ? "" : `/line/${line}`, message })));
