import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { listOwnOrganizations, switchOrganization } from "@/server/auth/organizations";

const viewer = memberProcedure("viewer");

export const accountRouter = router({
  organizations: viewer.query(({ ctx }) => listOwnOrganizations(ctx.services, ctx.actor)),
  switchOrganization: viewer
    .input(z.object({ organizationId: z.uuid() }))
    .mutation(({ ctx, input }) => switchOrganization(ctx.services, ctx.actor, input.organizationId)),
});
