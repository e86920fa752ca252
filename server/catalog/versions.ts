import type { MemberActor } from "@/server/base/actor";
import type { AgentVersion } from "@/server/base/db/generated/client";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { AppError } from "@/server/base/errors";
import { parseInput } from "@/server/base/issues";
import { isJsonObject, readJson, writeJson } from "@/server/base/json/json";
import { nameActors } from "@/server/base/name-actors";
import type { Services } from "@/server/catalog/services";
import {
  compareFields,
  type FieldChange,
  settingsFields,
  workflowFields,
} from "@/server/work/agent/field-changes";
import { readAgentSettings } from "@/server/work/agent/settings";
import { writeYaml } from "./definition-file/write-yaml";
import { type DefinitionRef, findDefinitions, inUse } from "./definition-rows";
import { toolDefinition } from "./definitions";
import { readAgentDefinition, readToolDefinition } from "./edit-definition";
import { saveAgent } from "./save-agent";
import { saveTool } from "./save-tool";
import type { SavedDefinition } from "./save-versioned";

export type VersionLine = Awaited<ReturnType<typeof listVersions>>["items"][number];

/**
 * Lists versions older than the number `cursor`, newest first. `changed` names the fields that differ from the
 * previous version; null for the first. Throws `not_found`.
 */
export async function listVersions(
  services: Pick<Services, "db">,
  actor: MemberActor,
  { kind, id, cursor, limit }: DefinitionRef & PageRequest<number>,
) {
  const current = await currentVersion(services, actor, { kind, id });
  const found = await findVersions(services, actor, {
    kind,
    id,
    before: cursor ?? current + 1,
    take: limit + 1,
  });
  const { items, nextCursor } = pageOf(found, limit, "number");
  const creators = items.map(({ createdBy }) => createdBy);
  const nameOf = await nameActors(services, actor.orgId, creators);
  const changed = await findChangedFields(services, { kind, id }, found);
  return {
    items: items.map(({ number, note, createdBy, createdAt }, index) => ({
      number,
      current: number === current,
      by: nameOf(createdBy),
      at: createdAt.toISOString(),
      note,
      changed: changed[index] ?? null,
    })),
    nextCursor,
  };
}

/** The fields in which each version differs from the next one of the list. At most two, which may be large, are in memory. */
async function findChangedFields(
  services: Pick<Services, "db">,
  of: DefinitionRef,
  versions: readonly { number: number }[],
): Promise<string[][]> {
  const changed: string[][] = [];
  let later: Content | null = null;
  for (const { number } of versions) {
    const content = await readContent(services, of, number);
    if (later !== null) changed.push(compareContents(content, later, writeJson).map(({ field }) => field));
    later = content;
  }
  return changed;
}

/**
 * The changes of a version from the previous one (the first changed every field), or of a return to it. Throws
 * `not_found`.
 */
export async function readVersionChanges(
  services: Pick<Services, "db">,
  actor: MemberActor,
  { kind, id, number, from }: DefinitionRef & { number: number; from: "previous" | "current" },
): Promise<FieldChange[]> {
  const current = await currentVersion(services, actor, { kind, id });
  const page = { kind, id, before: number + 1, take: 2 };
  const [version, earlier] = await findVersions(services, actor, page);
  if (version?.number !== number) throw new AppError("not_found", `There is no version ${number}.`);
  const compared = from === "current" ? current : earlier?.number;
  const content = await readContent(services, { kind, id }, number);
  const other = compared === undefined ? null : await readContent(services, { kind, id }, compared);
  return compareContents(other, content, writeYaml);
}

/**
 * Makes an earlier version a new one; what belongs to no version stays. Needs the role member. Throws `not_found`,
 * `forbidden`, and `invalid_request` if the definition is no longer valid or `current` is not the current version.
 */
export async function returnToVersion(
  services: Services,
  actor: MemberActor,
  { kind, id, number, current }: DefinitionRef & { number: number; current: number },
): Promise<SavedDefinition> {
  const options = { only: "update", id, version: current, note: `Return to version ${number}` } as const;
  if (kind === "agent") {
    const { definition } = await readAgentDefinition(services, actor, { agentId: id, number });
    return saveAgent(services, actor, { definition, ...options });
  }
  const { declared } = await readToolDefinition(services, actor, { toolId: id, number });
  return saveTool(services, actor, { definition: parseInput(toolDefinition, declared), ...options });
}

async function currentVersion({ db }: Pick<Services, "db">, actor: MemberActor, { kind, id }: DefinitionRef) {
  const [found] = await findDefinitions(db, kind, { where: { id, ...inUse(actor) } });
  if (!found) throw new AppError("not_found", `${kind === "agent" ? "Agent" : "Tool"} not found.`);
  return found.version;
}

async function findVersions(
  { db }: Pick<Services, "db">,
  { orgId }: MemberActor,
  { kind, id, before, take }: DefinitionRef & { before: number; take: number },
) {
  const select = { number: true, note: true, createdBy: true, createdAt: true } as const;
  const page = { orderBy: { number: "desc" }, take, select } as const;
  const number = { lt: before };
  return kind === "tool"
    ? db.toolVersion.findMany({ where: { toolId: id, number, tool: { organizationId: orgId } }, ...page })
    : db.agentVersion.findMany({ where: { agentId: id, number, agent: { organizationId: orgId } }, ...page });
}

type Content = Pick<AgentVersion, "maxCredits" | "deadlineSeconds"> & {
  kind: DefinitionRef["kind"];
  settings: Record<string, unknown>;
};

/** The content of a version that exists. */
async function readContent(
  { db }: Pick<Services, "db">,
  { kind, id }: DefinitionRef,
  number: number,
): Promise<Content> {
  if (kind === "tool") {
    const where = { toolId_number: { toolId: id, number } };
    const { definition, ...limits } = await db.toolVersion.findUniqueOrThrow({ where });
    const settings = readJson(definition);
    return { ...limits, kind, settings: isJsonObject(settings) ? settings : {} };
  }
  const where = { agentId_number: { agentId: id, number } };
  const version = await db.agentVersion.findUniqueOrThrow({ where });
  return { ...version, kind, settings: { ...readAgentSettings(version) } };
}

/** `write` writes objects, and only those that differ: YAML of a large definition takes long. */
function compareContents(
  earlier: Content | null,
  later: Content,
  write: (value: unknown) => string,
): FieldChange[] {
  const isEqual = (field: string) => {
    const [one, two] = [earlier?.settings[field], later.settings[field]];
    return one !== undefined && two !== undefined && writeJson(one) === writeJson(two);
  };
  const fieldsOf = ({ kind, settings, ...limits }: Content) => {
    const different = Object.fromEntries(Object.entries(settings).filter(([field]) => !isEqual(field)));
    const fields = kind === "tool" ? workflowFields(different, write) : settingsFields(different, write);
    return new Map([...fields, ...limitFields(limits)]);
  };
  return compareFields(earlier && fieldsOf(earlier), fieldsOf(later));
}

type Limits = Pick<AgentVersion, "maxCredits" | "deadlineSeconds">;

function limitFields({ maxCredits, deadlineSeconds }: Limits): [string, string][] {
  const deadline: [string, string] = ["deadline", `${deadlineSeconds} s`];
  return maxCredits ? [["max credits", maxCredits.toFixed(4)], deadline] : [deadline];
}
