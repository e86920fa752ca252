import { Decimal, ZERO } from "@/server/credits/amount";
import type { Cap, ClaimedRun } from "./claimed-run";
import type { Worker } from "./port";

/** The balance does not cover what the run would use next. */
export class CreditsExhausted extends Error {
  override name = "CreditsExhausted";
}

/** The run would go past its cap. */
export class CapReached extends Error {
  override name = "CapReached";
}

/** What a call reserves before it is made; `least` ≤ `minimum` ≤ `wanted`. */
export type Reservation = {
  /** Less than this makes no sense: where the cap leaves less, the run ends. */
  least: Decimal;
  /** What the balance must have, or as much of it as the cap leaves. */
  minimum: Decimal;
  /** Taken when cap and balance leave it. */
  wanted: Decimal;
};

/** A reservation that is taken whole or not at all. */
export const exactly = (amount: Decimal): Reservation => ({ least: amount, minimum: amount, wanted: amount });

/**
 * What a run and its children may still spend: credits are reserved before a call is made and spent after it. One budget
 * lives in the process whose worker has the root run.
 */
export type Budget = {
  /** Reserves credits; returns how many. Throws CapReached, CreditsExhausted, WorkerLost. */
  reserve(reservation: Reservation): Promise<Decimal>;
  /** Turns a reservation into what was used, extending the hold if more was. Returns what can be charged. */
  spend(reserved: Decimal, used: Decimal): Promise<Decimal>;
  /** What is used or reserved and not ended yet. */
  used(): Decimal;
};

/** How much more than needed a hold is extended by, as a share of the need: most runs extend it once. */
const EXTRA = new Decimal("0.25");

/** Parallel calls take turns: each sees what the one before it left. */
function inTurn() {
  let turn: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => {});
    return next;
  };
}

/**
 * Opens the budget of a root run on its hold and the organization's balance. `used` is what the run and its open children
 * have used so far. Used credits never exceed the hold, and the hold never exceeds the balance.
 */
export function openBudget(worker: Worker, run: ClaimedRun, alreadyUsed: Decimal): Budget {
  // A child that ends takes what it has used from the hold: the rest of both stays the same, so neither changes here.
  let { held } = run;
  let used = alreadyUsed;
  let reserved = ZERO;
  const take = inTurn();

  const extend = async (amount: Decimal): Promise<boolean> => {
    const verdict = await worker.accounts.hold({ run: run.id, org: run.orgId, amount: amount.toFixed(4) });
    if (verdict === "held") held = held.add(amount);
    return verdict === "held";
  };
  /** Makes room for `amount` beside what is used and reserved; false when the balance does not have it. */
  const extendHold = async (amount: Decimal): Promise<boolean> => {
    const missing = used.add(reserved).add(amount).sub(held);
    if (missing.lte(0)) return true;
    const extra = amount.mul(EXTRA).toDecimalPlaces(4, Decimal.ROUND_UP);
    return (extra.gt(0) && (await extend(missing.add(extra)))) || extend(missing);
  };

  return {
    used: () => used,
    reserve: ({ minimum, wanted }) =>
      take(async () => {
        for (const amount of wanted.gt(minimum) ? [wanted, minimum] : [minimum]) {
          if (await extendHold(amount)) {
            reserved = reserved.add(amount);
            return amount;
          }
        }
        throw new CreditsExhausted(
          "Insufficient credits: the balance does not cover the next step of this run.",
        );
      }),
    spend: (amount, actual) =>
      take(async () => {
        reserved = reserved.sub(amount);
        const room = await extendHold(actual);
        // A provider that ignores the output limit is not paid with credits nobody has.
        const charged = room ? actual : Decimal.max(ZERO, Decimal.min(actual, held.sub(used).sub(reserved)));
        used = used.add(charged);
        return charged;
      }),
  };
}

/**
 * The same budget within a cap: that of a root run, or of a tool or agent that a run called. `alreadyUsed` is what the run
 * and its children have used so far. What costs nothing is never refused.
 */
export function capBudget(budget: Budget, cap: Cap | null, alreadyUsed: Decimal): Budget {
  if (cap === null) return budget;
  let used = alreadyUsed;
  let reserved = ZERO;
  const take = inTurn();
  return {
    used: budget.used,
    reserve: ({ least, minimum, wanted }) =>
      take(async () => {
        const left = cap.credits.sub(used).sub(reserved);
        if (wanted.gt(0) && (left.lt(least) || left.lte(0))) {
          throw new CapReached(
            `The run reached its cap of ${cap.credits} credits (maxCredits of ${cap.of}): ${used} are used, and the next step may cost more than the rest.`,
          );
        }
        const within = (amount: Decimal) => Decimal.max(ZERO, Decimal.min(amount, left));
        const amount = await budget.reserve({ least, minimum: within(minimum), wanted: within(wanted) });
        reserved = reserved.add(amount);
        return amount;
      }),
    spend: (amount, actual) =>
      take(async () => {
        const charged = await budget.spend(amount, actual);
        reserved = reserved.sub(amount);
        used = used.add(charged);
        return charged;
      }),
  };
}
