import type { MemberActor } from "@/server/base/actor";
import type { Services } from "@/server/catalog/services";
import { inUse, NEWEST } from "../definition-rows";
import { readOwnProviders } from "./model-providers";

export type FirstSteps = Awaited<ReturnType<typeof readFirstSteps>>;

// Counts runs whether completed or not.
const FIRST_RUNS = 20;

/**
 * The steps of an organization to its first completed run. Without a provider, the demo model answers. Reads few
 * rows, however many runs there are.
 */
export async function readFirstSteps({ db, env }: Pick<Services, "db" | "env">, actor: MemberActor) {
  const [own, agent, runs] = await Promise.all([
    readOwnProviders(db, actor.orgId),
    db.agent.findFirst({
      where: { ...inUse(actor), status: "active" },
      orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      select: { id: true, name: true, versions: { ...NEWEST, select: { maxCredits: true } } },
    }),
    db.run.findMany({
      where: { organizationId: actor.orgId },
      orderBy: { id: "desc" },
      take: FIRST_RUNS,
      select: { id: true, status: true },
    }),
  ]);
  const providers = [...(env.openai ? [{ name: "openai" }] : []), ...env.providers, ...own];
  return {
    providers: [...new Set(providers.map(({ name }) => name))],
    agent: agent && {
      id: agent.id,
      name: agent.name,
      maxCredits: agent.versions[0]?.maxCredits?.toFixed(4) ?? null,
    },
    lastRun: runs[0] ?? null,
    completed: runs.length === FIRST_RUNS || runs.some(({ status }) => status === "Completed"),
  };
}
