import { z } from "zod";
import { createCallerFactory, memberProcedure, router } from "@/server/api/trpc";
import {
  changeOwnPassword,
  endOwnSession,
  listOwnOrganizations,
  listOwnSessions,
  passwordChange,
  switchOrganization,
} from "@/server/catalog/auth/own-account";
import {
  listAgents,
  listDirectory,
  listFilterTargets,
  listKeys,
  listTools,
  listTriggers,
} from "@/server/catalog/overview";
import { idInput } from "@/server/contract/ids";
import { callbacksRouter } from "./callbacks";
import { definitionsRouter } from "./definitions";
import {
  creditsRouter,
  keysRouter,
  membersRouter,
  modelsRouter,
  organizationRouter,
  secretsRouter,
  viewsRouter,
} from "./organization";
import { checkedInput, resolver } from "./procedures";
import { runsRouter } from "./runs";
import { schedulesRouter } from "./schedules";
import { systemRouter } from "./system";
import { triggersRouter } from "./triggers";

const viewer = memberProcedure("viewer");

export const dashboardRouter = router({
  account: router({
    organizations: viewer.query(resolver(listOwnOrganizations)),
    switchOrganization: memberProcedure("viewer", { anyPage: true })
      .input(z.object({ organizationId: idInput() }))
      .mutation(({ ctx, input }) => switchOrganization(ctx.services, ctx, input)),
    sessions: viewer.query(({ ctx }) => listOwnSessions(ctx.services, ctx)),
    /** Null: all others than this one. */
    endSession: viewer
      .input(z.object({ sessionId: idInput().nullable() }))
      .mutation(({ ctx, input }) => endOwnSession(ctx.services, ctx, input.sessionId)),
    changePassword: viewer
      .input(checkedInput(passwordChange))
      .mutation(({ ctx, input }) => changeOwnPassword(ctx.services, ctx, input)),
  }),
  callbacks: callbacksRouter,
  catalog: router({
    agents: viewer.query(resolver(listAgents)),
    tools: viewer.query(resolver(listTools)),
    triggers: viewer.query(resolver(listTriggers)),
    keys: viewer.query(resolver(listKeys)),
    directory: viewer.query(resolver(listDirectory)),
    filterTargets: viewer.query(resolver(listFilterTargets)),
  }),
  credits: creditsRouter,
  definitions: definitionsRouter,
  keys: keysRouter,
  members: membersRouter,
  models: modelsRouter,
  organization: organizationRouter,
  runs: runsRouter,
  secrets: secretsRouter,
  schedules: schedulesRouter,
  system: systemRouter,
  triggers: triggersRouter,
  views: viewsRouter,
});
export type DashboardRouter = typeof dashboardRouter;

export const createDashboardCaller = createCallerFactory(dashboardRouter);
