import type { MemberActor } from "@/server/base/actor";
import type { AgentVersion } from "@/server/base/db/generated/client";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { AppError } from "@/server/base/errors";
import { parseInput } from "@/server/base/issues";
import { isJsonObject, readJson } from "@/server/base/json/json";
import { nameActors } from "@/server/base/name-actors";
import type { Services } from "@/server/catalog/services";
import {
  compareFields,
  type FieldChange,
  type Fields,
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
  const page = { kind, id, before: cursor ?? current + 1, take: limit + 1 };
  const found = await readVersions(services, actor, page);
  const { items, nextCursor } = pageOf(found, limit, "number");
  const creators = items.map(({ createdBy }) => createdBy);
  const nameOf = await nameActors(services, actor.orgId, creators);
  return {
    items: items.map(({ number, note, createdBy, createdAt, fields }, index) => {
      const earlier = found[index + 1];
      return {
        number,
        current: number === current,
        by: nameOf(createdBy),
        at: createdAt.toISOString(),
        note,
        changed: earlier ? compareFields(earlier.fields, fields).map(({ field }) => field) : null,
      };
    }),
    nextCursor,
  };
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
  const [version, earlier] = await readVersions(services, actor, { kind, id, before: number + 1, take: 2 });
  if (version?.number !== number) throw new AppError("not_found", `There is no version ${number}.`);
  if (from === "previous") return compareFields(earlier?.fields ?? null, version.fields);
  const [newest] = await readVersions(services, actor, { kind, id, before: current + 1, take: 1 });
  return compareFields(newest?.fields ?? null, version.fields);
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

/** The fields are YAML texts, as one edits them. */
type Version = { number: number; note: string; createdBy: string; createdAt: Date; fields: Fields };

async function readVersions(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { kind, id, before, take }: DefinitionRef & { before: number; take: number },
): Promise<Version[]> {
  const page = { orderBy: { number: "desc" }, take } as const;
  if (kind === "tool") {
    const rows = await db.toolVersion.findMany({
      where: { toolId: id, number: { lt: before }, tool: { organizationId: actor.orgId } },
      ...page,
    });
    return rows.map((row) => {
      const definition = readJson(row.definition);
      const fields = isJsonObject(definition) ? workflowFields(definition, writeYaml) : [];
      return { ...row, fields: new Map([...fields, ...limitFields(row)]) };
    });
  }
  const rows = await db.agentVersion.findMany({
    where: { agentId: id, number: { lt: before }, agent: { organizationId: actor.orgId } },
    ...page,
  });
  return rows.map((row) => ({
    ...row,
    fields: new Map([...settingsFields(readAgentSettings(row), writeYaml), ...limitFields(row)]),
  }));
}

type Limits = Pick<AgentVersion, "maxCredits" | "deadlineSeconds">;

function limitFields({ maxCredits, deadlineSeconds }: Limits): [string, string][] {
  const deadline: [string, string] = ["deadline", `${deadlineSeconds} s`];
  return maxCredits ? [["max credits", maxCredits.toFixed(4)], deadline] : [deadline];
}
