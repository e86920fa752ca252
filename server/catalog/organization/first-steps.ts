import type { MemberActor } from "@/server/auth/actor";
import type { RunStatus } from "@/server/contract/enums";
import type { Services } from "@/server/services";
import { readProviders } from "./model-providers";

/** How far an organization is on its way to a first completed run. */
export type FirstSteps = {
  /** The model providers of the service and of the organization; empty: the demo model answers. */
  providers: string[];
  /** The first active agent. */
  agent: { id: string; name: string; maxCredits: string | null } | null;
  /** The newest run. */
  lastRun: { id: string; status: RunStatus } | null;
  completed: boolean;
};

/** After this many runs, completed or not, the first steps are no longer shown. */
const FIRST_RUNS = 20;

/** Reads a bounded number of rows, however many runs there are. */
export async function readFirstSteps(services: Services, actor: MemberActor): Promise<FirstSteps> {
  const { db, env } = services;
  const organizationId = actor.orgId;
  const [own, agent, runs] = await Promise.all([
    readProviders(db, organizationId),
    db.agent.findFirst({
      where: { organizationId, deletedAt: null, status: "active" },
      orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      select: {
        id: true,
        name: true,
        versions: { orderBy: { number: "desc" }, take: 1, select: { maxCredits: true } },
      },
    }),
    db.run.findMany({
      where: { organizationId },
      orderBy: { id: "desc" },
      take: FIRST_RUNS,
      select: { id: true, status: true },
    }),
  ]);
  return {
    providers: [
      ...new Set([...(env.openai ? ["openai"] : []), ...[...env.providers, ...own].map(({ name }) => name)]),
    ],
    agent: agent && {
      id: agent.id,
      name: agent.name,
      maxCredits: agent.versions[0]?.maxCredits?.toFixed(4) ?? null,
    },
    lastRun: runs[0] ?? null,
    completed: runs.length === FIRST_RUNS || runs.some(({ status }) => status === "Completed"),
  };
}
