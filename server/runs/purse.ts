import { Decimal, ZERO } from "@/server/credits/amount";
import { extendHold } from "@/server/credits/ledger";
import type { Services } from "@/server/services";

/** The balance does not cover what the run would use next. */
export class CreditsExhausted extends Error {
  override name = "CreditsExhausted";
}

/**
 * What a root run and its children may still spend: the hold on one side, what was used and what is promised to
 * calls under way on the other. Used credits never exceed the hold, and the hold never exceeds the balance.
 * One purse lives in the one process that owns the run.
 */
export type Purse = {
  /**
   * Sets credits aside before something is done: `wanted` when the hold or the balance has them, else `minimum`.
   * Returns what was set aside. Throws CreditsExhausted.
   */
  reserve(minimum: Decimal, wanted?: Decimal): Promise<Decimal>;
  /** Turns what was set aside into what was used, extending the hold if more was. Returns what can be charged. */
  spend(reserved: Decimal, used: Decimal): Promise<Decimal>;
  /** Takes a child's settled use out: its part of the hold ended with it. */
  settleChild(used: Decimal): void;
};

/** Opens the purse of a root run. `used` is what the run and its open children have used so far. */
export function openPurse(services: Services, rootRunId: string, held: Decimal, used: Decimal): Purse {
  let reserved = ZERO;
  // Parallel calls take turns: each sees the hold that the one before it left.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => {});
    return next;
  };

  /** Makes room for `amount` beside what is used and reserved; false when the balance does not have it. */
  const makeRoom = async (amount: Decimal): Promise<boolean> => {
    const missing = used.add(reserved).add(amount).sub(held);
    if (missing.lte(0)) return true;
    const extended = await extendHold(services.pool, rootRunId, missing, services.clock);
    if (extended === null) return false;
    held = extended;
    return true;
  };

  return {
    reserve: (minimum, wanted = minimum) =>
      inTurn(async () => {
        const amounts = wanted.gt(minimum) ? [wanted, minimum] : [minimum];
        for (const amount of amounts) {
          if (await makeRoom(amount)) {
            reserved = reserved.add(amount);
            return amount;
          }
        }
        throw new CreditsExhausted(
          "Insufficient credits: the balance does not cover the next step of this run.",
        );
      }),
    spend: (amount, actual) =>
      inTurn(async () => {
        reserved = reserved.sub(amount);
        const room = await makeRoom(actual);
        // A provider that ignores the output limit is not paid with credits nobody has.
        const charged = room ? actual : Decimal.max(ZERO, Decimal.min(actual, held.sub(used).sub(reserved)));
        used = used.add(charged);
        return charged;
      }),
    settleChild(settled) {
      used = used.sub(settled);
      held = held.sub(settled);
    },
  };
}
