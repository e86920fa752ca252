import { z } from "zod";
import { endpoint } from "@/server/api/endpoint";
import type { ApiKeyActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { CREDIT_ENTRY_KINDS } from "@/server/contract/enums";
import { amount } from "@/server/contract/run-lists";
import { listLedger, readBalance } from "@/server/credits/read-ledger";
import { choice, flag } from "./filters";
import { listEndpoint, numberCursor } from "./list";

const CREDITS = { tag: "Credits", scope: "credits:read" } as const;

const balance = z
  .object({
    available: amount.meta({ description: "What new runs can hold" }),
    held: amount.meta({ description: "Held for open runs" }),
    openRuns: z.int().min(0).meta({ description: "Runs that are pending or running" }),
    monthly: amount.meta({ description: "Granted each month by the plan" }),
  })
  .meta({ id: "CreditBalance" });

const entry = z
  .object({
    sequence: z.int().min(1).meta({ description: "Counts the organization's entries from 1, without gaps" }),
    kind: z.enum(CREDIT_ENTRY_KINDS),
    amount: amount.meta({ description: "The change of the balance: negative for holds and charges" }),
    before: amount.meta({ description: "The balance before" }),
    after: amount.meta({ description: "The balance after" }),
    runId: z.uuid().nullable(),
    note: z.string(),
    createdAt: z.iso.datetime({ precision: 3 }),
  })
  .meta({ id: "CreditEntry" });

export const credits = {
  balance: endpoint({
    ...CREDITS,
    method: "GET",
    path: "/v1/credits",
    operationId: "getCredits",
    summary: "Read the balance",
    description: "The organization's credits. A key that is limited to agents and tools cannot read them.",
    successDescription: "The balance",
    answers: "view",
    input: z.object({}),
    answer: balance,
    example: {
      response: { available: "812.4406", held: "3.2000", openRuns: 2, monthly: "1000.0000" },
    },
    async run({ services, actor }) {
      requireUnlimited(actor);
      return readBalance(services, actor);
    },
  }),

  entries: listEndpoint({
    ...CREDITS,
    path: "/v1/credits/entries",
    operationId: "listCreditEntries",
    summary: "List credit entries",
    description:
      "The organization's ledger, newest first. It never changes: entries are only added. A key that is limited to agents " +
      "and tools cannot read it.",
    id: "CreditEntryList",
    item: entry,
    cursor: numberCursor,
    filters: {
      kind: choice("kind", { among: CREDIT_ENTRY_KINDS, description: "Only entries of this kind" }),
      holds: flag("holds", "true: also holds and releases, which cancel each other out"),
    },
    example: {
      item: {
        sequence: 4711,
        kind: "charge",
        amount: "-0.0612",
        before: "812.5018",
        after: "812.4406",
        runId: "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02",
        note: "run ended",
        createdAt: "2026-11-21T01:22:10.480Z",
      },
      filters: { kind: "charge", holds: false },
    },
    async list(services, actor, { filters: { kind, holds = false }, page }) {
      requireUnlimited(actor);
      const { items, nextCursor } = await listLedger(services, actor, { kind, holds, ...page });
      return { items: items.map(({ actor: _, ...line }) => line), nextCursor };
    },
  }),
};

function requireUnlimited({ name, targetIds }: ApiKeyActor): void {
  if (targetIds.length === 0) return;
  const message = `The API key ${name} is limited to some agents and tools. Credits are those of the organization.`;
  throw new AppError("forbidden", message);
}
