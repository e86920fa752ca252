import type { OrgId } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import { queryThrough } from "@/server/base/db/statement";
import type { Issue } from "@/server/base/errors";
import { nearestName } from "@/server/base/nearest-name";
import type { RunKind } from "@/server/contract/enums";
import { findKnownTargets } from "@/server/runs/find-target";
import type { UnknownName } from "@/server/work/workflow/check";
import { findDefinitions } from "./definition-rows";
import { slug as slugSchema } from "./definitions";

/** Slugs of agents and tools that the same change saves, maybe later. */
export type DeclaredSlugs = { agent: ReadonlySet<string>; tool: ReadonlySet<string> };

export type SlugReader = {
  tx: Transaction;
  /** Of a limited key, messages name only what it may use. */
  actor: { orgId: OrgId; targetIds?: readonly string[] };
  declared?: DeclaredSlugs;
  /** Ids that the saved item has already. They stay valid when they are archived. */
  kept?: readonly string[];
};

/**
 * The ids of the organization's agents or tools by slug, or the issue of an unknown slug, with the known names.
 * Slugs that are only `declared` have neither.
 */
export async function resolveSlugs(
  { tx, actor, declared, kept = [] }: SlugReader,
  kind: RunKind,
  slugs: readonly string[],
): Promise<{ ids: Map<string, string>; issues: Map<string, UnknownName> }> {
  const { orgId, targetIds = [] } = actor;
  const ids = new Map<string, string>();
  const issues = new Map<string, UnknownName>();
  if (slugs.length === 0) return { ids, issues };
  const possible = slugs.filter((each) => slugSchema.safeParse(each).success);
  const found = await findDefinitions(tx, kind, { where: { organizationId: orgId, slug: { in: possible } } });
  const archived = new Set<string>();
  for (const { id, slug, deletedAt } of found) {
    if (deletedAt === null || kept.includes(id)) ids.set(slug, id);
    else archived.add(slug);
  }
  const unknown = slugs.filter((slug) => !ids.has(slug) && !declared?.[kind].has(slug));
  if (unknown.length === 0) return { ids, issues };
  const known = await findKnownTargets(queryThrough(tx), orgId, {
    kind,
    declared: [...(declared?.[kind] ?? [])],
    among: targetIds,
  });
  const reason = `is not ${kind === "agent" ? "an agent" : "a tool"} of the organization`;
  for (const slug of unknown) {
    const isArchived = archived.has(slug);
    const wrong = isArchived ? "is archived: restore it, or choose another one" : reason;
    const message = `"${slug}" ${wrong}. ${known.description}`;
    issues.set(slug, { message, meant: isArchived ? undefined : nearestName(slug, known.names) });
  }
  return { ids, issues };
}

/** `path` is the field's JSON pointer. */
type TargetField = { kind: RunKind; slug: string; path: string };

/** The ids of agents and tools in the order of their fields. Those that are unknown have an issue. */
export async function resolveTargets(
  reader: SlugReader,
  fields: readonly TargetField[],
): Promise<{ ids: string[]; issues: Issue[] }> {
  const slugsOf = (kind: TargetField["kind"]) =>
    fields.filter((field) => field.kind === kind).map(({ slug }) => slug);
  const found = {
    agent: await resolveSlugs(reader, "agent", slugsOf("agent")),
    tool: await resolveSlugs(reader, "tool", slugsOf("tool")),
  };
  return {
    ids: fields.flatMap(({ kind, slug }) => found[kind].ids.get(slug) ?? []),
    issues: fields.flatMap(({ kind, slug, path }) => {
      const unknown = found[kind].issues.get(slug);
      return unknown === undefined ? [] : [{ path, message: unknown.message }];
    }),
  };
}

type StoredTarget = { agentId: string | null; toolId: string | null; deletedAt: Date | null };

/**
 * The id of what a trigger or schedule starts. With an archived target, a stored one can still be changed, for example
 * paused.
 */
export async function resolveTarget(
  reader: SlugReader,
  { agent, tool }: { agent: string | null; tool: string | null },
  stored: StoredTarget | null,
): Promise<{ id: string | null; issues: Issue[] }> {
  const kept = stored?.deletedAt === null ? [stored.agentId ?? stored.toolId ?? ""] : [];
  const { ids, issues } = await resolveTargets({ ...reader, kept }, [
    ...(agent === null ? [] : [{ kind: "agent" as const, slug: agent, path: "/agent" }]),
    ...(tool === null ? [] : [{ kind: "tool" as const, slug: tool, path: "/tool" }]),
  ]);
  return { id: ids[0] ?? null, issues };
}
