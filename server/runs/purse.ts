import { Decimal, ZERO } from "@/server/credits/amount";
import { extendHold } from "@/server/credits/ledger";
import type { Services } from "@/server/services";
import { RunLost } from "./journal";

/** The balance does not cover what the run would use next. */
export class CreditsExhausted extends Error {
  override name = "CreditsExhausted";
}

/** The run would go past its cap. */
export class CapReached extends Error {
  override name = "CapReached";
}

/** Most that a run and its children may use, and whose setting that is. */
export type Cap = { credits: Decimal; of: string };

/**
 * What a root run and its children may still spend: the hold on one side, what was used and what is promised to
 * calls under way on the other. Used credits never exceed the hold, and the hold never exceeds the balance.
 * One purse lives in the one process that owns the run; one of a worker that lost it extends no hold any more.
 * Everything throws RunLost then.
 */
export type Purse = {
  /**
   * Sets credits aside before something is done: `wanted` when the hold or the balance has them, else `minimum`.
   * Returns what was set aside. Throws CreditsExhausted.
   */
  reserve(minimum: Decimal, wanted?: Decimal): Promise<Decimal>;
  /**
   * The same for a model call, within the run's cap: when the cap leaves less than `minimum`, down to `least`.
   * Throws CapReached, CreditsExhausted.
   */
  reserveForCall(amounts: { least: Decimal; minimum: Decimal; wanted: Decimal }): Promise<Decimal>;
  /** Turns what was set aside into what was used, extending the hold if more was. Returns what can be charged. */
  spend(reserved: Decimal, used: Decimal): Promise<Decimal>;
};

/**
 * Opens the purse of a root run claimed with `epoch`. `used` is what the run and its open children have used so far, `settled` what its
 * ended children were charged.
 */
export function openPurse(
  services: Services,
  run: { id: string; epoch: number; held: Decimal; used: Decimal; settled: Decimal; cap: Cap | null },
): Purse {
  const { cap } = run;
  // A child that ends takes as much from the hold as it has used: what is left between the two stays, so neither moves.
  let { held, used } = run;
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
    const outcome = await extendHold(services.pool, run, missing, services.clock);
    if (outcome === "lost") throw new RunLost(`run ${run.id} is no longer this worker's`);
    if (outcome === "uncovered") return false;
    held = held.add(missing);
    return true;
  };

  const setAside = async (minimum: Decimal, wanted: Decimal): Promise<Decimal> => {
    const amounts = wanted.gt(minimum) ? [wanted, minimum] : [minimum];
    for (const amount of amounts) {
      if (await makeRoom(amount)) {
        reserved = reserved.add(amount);
        return amount;
      }
    }
    throw new CreditsExhausted("Insufficient credits: the balance does not cover the next step of this run.");
  };

  return {
    reserve: (minimum, wanted = minimum) => inTurn(() => setAside(minimum, wanted)),
    reserveForCall: ({ least, minimum, wanted }) =>
      inTurn(() => {
        if (cap === null) return setAside(minimum, wanted);
        const spent = used.add(run.settled);
        const left = cap.credits.sub(spent).sub(reserved);
        if (left.lt(least) || left.lte(0)) {
          throw new CapReached(
            `The run reached its cap of ${cap.credits} credits (maxCredits of ${cap.of}): ${spent} are used, and the next model call may cost more than the rest.`,
          );
        }
        return setAside(Decimal.min(minimum, left), Decimal.min(wanted, left));
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
  };
}
