import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { listMembers } from "@/server/auth/list-members";
import { listAudit } from "@/server/operate/read-audit";

export const organizationRouter = router({
  members: memberProcedure("viewer").query(({ ctx }) => listMembers(ctx.services, ctx.actor)),

  audit: memberProcedure("admin")
    .input(
      z.object({
        /** The page begins after this id, towards older entries. */
        cursor: z.uuid().nullish(),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input }) =>
      listAudit(ctx.services, ctx.actor, { before: input.cursor ?? undefined, limit: input.limit }),
    ),
});
