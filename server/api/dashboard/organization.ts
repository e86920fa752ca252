import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { listMembers } from "@/server/auth/list-members";
import { readFirstSteps } from "@/server/catalog/organization/first-steps";
import {
  describeOwnOrganization,
  organizationName,
  renameOrganization,
} from "@/server/catalog/organization/own-organization";
import { AUDIT_SUBJECTS } from "@/server/contract/enums";
import { listAudit } from "@/server/operate/read-audit";
import { checkedInput } from "./checked-input";

export const organizationRouter = router({
  inspect: memberProcedure("viewer").query(({ ctx }) => describeOwnOrganization(ctx.services, ctx.actor)),

  firstSteps: memberProcedure("viewer").query(({ ctx }) => readFirstSteps(ctx.services, ctx.actor)),

  rename: memberProcedure("owner")
    .input(checkedInput(organizationName))
    .mutation(({ ctx, input }) => renameOrganization(ctx.services, ctx.actor, input)),

  members: memberProcedure("viewer").query(({ ctx }) => listMembers(ctx.services, ctx.actor)),

  audit: memberProcedure("admin")
    .input(
      z.object({
        subject: z.enum(AUDIT_SUBJECTS).optional(),
        /** The page begins after this id, towards older entries. */
        cursor: z.uuid().nullish(),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input: { cursor, ...input } }) =>
      listAudit(ctx.services, ctx.actor, { ...input, before: cursor ?? undefined }),
    ),
});
