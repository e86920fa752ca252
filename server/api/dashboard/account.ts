import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { listOwnOrganizations, switchOrganization } from "@/server/auth/organizations";
import { changeOwnPassword, endOwnSession, listOwnSessions, passwordChange } from "@/server/auth/own-account";
import { call, checkedInput } from "./procedures";

const viewer = memberProcedure("viewer");

/** The person's own account, whatever their role. */
export const accountRouter = router({
  organizations: viewer.query(call(listOwnOrganizations)),
  switchOrganization: viewer
    .input(z.object({ organizationId: z.uuid() }))
    .mutation(({ ctx, input }) => switchOrganization(ctx.services, ctx.actor, input.organizationId)),

  sessions: viewer.query(({ ctx }) => listOwnSessions(ctx.services, ctx)),

  /** Null: all others than this one. */
  endSession: viewer
    .input(z.object({ sessionId: z.uuid().nullable() }))
    .mutation(({ ctx, input }) => endOwnSession(ctx.services, ctx, input.sessionId)),

  changePassword: viewer
    .input(checkedInput(passwordChange))
    .mutation(({ ctx, input }) => changeOwnPassword(ctx.services, ctx, input)),
});
