import { accountRouter } from "@/server/api/dashboard/account";
import { catalogRouter } from "@/server/api/dashboard/catalog";
import { creditsRouter } from "@/server/api/dashboard/credits";
import { definitionsRouter } from "@/server/api/dashboard/definitions";
import { keysRouter } from "@/server/api/dashboard/keys";
import { membersRouter } from "@/server/api/dashboard/members";
import { modelsRouter } from "@/server/api/dashboard/models";
import { organizationRouter } from "@/server/api/dashboard/organization";
import { runsRouter } from "@/server/api/dashboard/runs";
import { secretsRouter } from "@/server/api/dashboard/secrets";
import { triggersRouter } from "@/server/api/dashboard/triggers";
import { createCallerFactory, router } from "@/server/api/trpc";

/** The dashboard's procedures, for signed-in members. */
export const dashboardRouter = router({
  account: accountRouter,
  catalog: catalogRouter,
  credits: creditsRouter,
  definitions: definitionsRouter,
  keys: keysRouter,
  members: membersRouter,
  models: modelsRouter,
  organization: organizationRouter,
  runs: runsRouter,
  secrets: secretsRouter,
  triggers: triggersRouter,
});
export type DashboardRouter = typeof dashboardRouter;

export const createDashboardCaller = createCallerFactory(dashboardRouter);
