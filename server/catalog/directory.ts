import type { MemberActor } from "@/server/auth/actor";
import type { Services } from "@/server/services";

export type DirectoryEntry = { kind: "agent" | "tool" | "trigger"; id: string; slug: string; name: string };

/** The organization's agents, tools and triggers by name, without deleted ones, for the palette. */
export async function listDirectory(services: Services, actor: MemberActor): Promise<DirectoryEntry[]> {
  const query = {
    where: { organizationId: actor.orgId, deletedAt: null },
    orderBy: { name: "asc" },
    select: { id: true, slug: true, name: true },
  } as const;
  const [agents, tools, triggers] = await Promise.all([
    services.db.agent.findMany(query),
    services.db.tool.findMany(query),
    services.db.trigger.findMany(query),
  ]);
  const entries = (kind: DirectoryEntry["kind"], found: Omit<DirectoryEntry, "kind">[]) =>
    found.map((each) => ({ kind, ...each }));
  return [...entries("agent", agents), ...entries("tool", tools), ...entries("trigger", triggers)];
}
