import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { ENTRY_KINDS, listLedger, readBalance } from "@/server/credits/read-ledger";

const viewer = memberProcedure("viewer");

/** What the organization has to spend, and every line of its ledger. */
export const creditsRouter = router({
  balance: viewer.query(({ ctx }) => readBalance(ctx.services, ctx.actor)),

  ledger: viewer
    .input(
      z.object({
        kind: z.enum(ENTRY_KINDS).optional(),
        /** The number after which (towards older lines) the page begins. */
        cursor: z.int32().min(1).nullish(),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input: { cursor, ...input } }) =>
      listLedger(ctx.services, ctx.actor, { ...input, before: cursor ?? undefined }),
    ),
});
