import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { CREDIT_ENTRY_KINDS } from "@/server/contract/enums";
import { listLedger, readBalance } from "@/server/credits/read-ledger";

const viewer = memberProcedure("viewer");

export const creditsRouter = router({
  balance: viewer.query(({ ctx }) => readBalance(ctx.services, ctx.actor)),

  ledger: viewer
    .input(
      z.object({
        kind: z.enum(CREDIT_ENTRY_KINDS).optional(),
        /** The page begins after this number, towards older entries. */
        cursor: z.int32().min(1).nullish(),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input: { cursor, ...input } }) =>
      listLedger(ctx.services, ctx.actor, { ...input, before: cursor ?? undefined }),
    ),
});
