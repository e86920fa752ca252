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
import { call, checkedInput } from "./procedures";

export const organizationRouter = router({
  inspect: memberProcedure("viewer").query(call(describeOwnOrganization)),

  firstSteps: memberProcedure("viewer").query(call(readFirstSteps)),

  rename: memberProcedure("owner").input(checkedInput(organizationName)).mutation(call(renameOrganization)),

  members: memberProcedure("viewer").query(call(listMembers)),

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
