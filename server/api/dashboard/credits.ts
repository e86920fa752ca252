import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { CREDIT_ENTRY_KINDS } from "@/server/contract/enums";
import { listLedger, readBalance } from "@/server/credits/read-ledger";
import { readRunsById } from "@/server/runs/read/list";
import { call } from "./procedures";

const viewer = memberProcedure("viewer");

export const creditsRouter = router({
  balance: viewer.query(call(readBalance)),

  /** The entries, and the runs they belong to as far as these are still stored. */
  ledger: viewer
    .input(
      z.object({
        kind: z.enum(CREDIT_ENTRY_KINDS).optional(),
        holds: z.boolean().default(false),
        /** The page begins after this number, towards older entries. */
        cursor: z.int32().min(1).nullish(),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .query(async ({ ctx: { services, actor }, input: { cursor, ...input } }) => {
      const page = await listLedger(services, actor, { ...input, before: cursor ?? undefined });
      const runIds = [...new Set(page.items.flatMap(({ runId }) => runId ?? []))];
      return { ...page, runs: await readRunsById(services, actor.orgId, runIds) };
    }),
});
