import { z } from "zod";
import { readSettings } from "@/server/agent/definition";
import type { MemberActor } from "@/server/auth/actor";
import { nameActors } from "@/server/auth/name-actors";
import {
  compareFields,
  type FieldChange,
  type Fields,
  settingsFields,
  workflowFields,
} from "@/server/catalog/field-changes";
import { AppError } from "@/server/errors";
import type { Page } from "@/server/page";
import type { Services } from "@/server/services";
import { readToolSlugs } from "./agent-content";

/** An agent or a tool. */
export type DefinitionRef = { kind: "agent" | "tool"; id: string };

/** One version of an agent or tool in its history. */
export type VersionLine = {
  number: number;
  current: boolean;
  by: string;
  at: string;
  /** Why it was saved; empty if nobody said. */
  note: string;
  /** The fields that differ from the previous version; null for the first. */
  changed: string[] | null;
};

export type VersionPage = Page<VersionLine, number>;

/** A version as texts, field by field. */
type Version = { number: number; note: string; createdBy: string; createdAt: Date; fields: Fields };

/** The versions of an agent or tool, newest first, paged by number. Throws `not_found`. */
export async function listVersions(
  services: Services,
  actor: MemberActor,
  { kind, id, before, limit }: DefinitionRef & { before?: number | undefined; limit: number },
): Promise<VersionPage> {
  const current = await currentVersion(services, actor, { kind, id });
  const found = await readVersions(services, actor, {
    kind,
    id,
    before: before ?? current + 1,
    take: limit + 1,
  });
  const shown = found.slice(0, limit);
  const nameOf = await nameActors(
    services,
    actor.orgId,
    shown.map(({ createdBy }) => createdBy),
  );
  return {
    items: shown.map((version, index) => {
      const earlier = found[index + 1];
      return {
        number: version.number,
        current: version.number === current,
        by: nameOf(version.createdBy),
        at: version.createdAt.toISOString(),
        note: version.note,
        changed: earlier ? compareFields(earlier.fields, version.fields).map(({ field }) => field) : null,
      };
    }),
    nextCursor: found.length > limit ? (shown.at(-1)?.number ?? null) : null,
  };
}

/**
 * What a version changed from the previous one (the first changed every field), or what returning to it would change in
 * the current one. Throws `not_found`.
 */
export async function readVersionChanges(
  services: Services,
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

async function currentVersion(
  { db }: Services,
  actor: MemberActor,
  { kind, id }: DefinitionRef,
): Promise<number> {
  const query = { where: { id, organizationId: actor.orgId, deletedAt: null }, select: { version: true } };
  const found = kind === "agent" ? await db.agent.findFirst(query) : await db.tool.findFirst(query);
  if (!found) throw new AppError("not_found", `${kind === "agent" ? "Agent" : "Tool"} not found.`);
  return found.version;
}

async function readVersions(
  services: Services,
  actor: MemberActor,
  { kind, id, before, take }: DefinitionRef & { before: number; take: number },
): Promise<Version[]> {
  const { db } = services;
  const page = { orderBy: { number: "desc" }, take } as const;
  if (kind === "tool") {
    const rows = await db.toolVersion.findMany({
      where: { toolId: id, number: { lt: before }, tool: { organizationId: actor.orgId } },
      ...page,
    });
    return rows.map((row) => ({
      ...row,
      fields: new Map([...definitionFields(row.definition), ...limitFields(row)]),
    }));
  }
  const rows = await db.agentVersion.findMany({
    where: { agentId: id, number: { lt: before }, agent: { organizationId: actor.orgId } },
    ...page,
  });
  const toolIds = [...new Set(rows.flatMap((row) => row.toolIds))];
  const slugs = await readToolSlugs(db, actor.orgId, toolIds);
  return rows.map((row) => ({
    ...row,
    fields: new Map([
      ["model", row.model],
      ["system prompt", row.systemPrompt],
      ["max steps", String(row.maxSteps)],
      ["functions", row.functions.join("\n")],
      ["tools", row.toolIds.map((toolId) => slugs.get(toolId) ?? "a deleted tool").join("\n")],
      ...settingsFields(readSettings(row.settings)),
      ...limitFields(row),
    ]),
  }));
}

function limitFields(row: {
  maxCredits: { toFixed(places: number): string } | null;
  deadlineSeconds: number;
}): [string, string][] {
  return [
    ...(row.maxCredits ? [["max credits", row.maxCredits.toFixed(4)] satisfies [string, string]] : []),
    ["deadline", `${row.deadlineSeconds} s`],
  ];
}

function definitionFields(definition: string): [string, string][] {
  return workflowFields(z.record(z.string(), z.unknown()).parse(JSON.parse(definition)));
}
