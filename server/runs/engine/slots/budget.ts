import { Decimal, ZERO } from "@/server/base/amount";
import type { Cap, ClaimedRun } from "../claimed-run";
import { LimitReached } from "../interruptions";
import type { Worker } from "../port";

/** Credits to reserve; `least` ≤ `minimum` ≤ `wanted`. */
type Reservation = {
  /** If the cap allows less, the call is pointless and the run ends. */
  least: Decimal;
  /** The balance must allow this, or as much of it as the cap does. */
  minimum: Decimal;
  wanted: Decimal;
};

/** A reservation that is granted completely or not at all. */
export const exactly = (amount: Decimal): Reservation => ({ least: amount, minimum: amount, wanted: amount });

/**
 * The credits that a run and its children may still spend, reserved before a call and spent after it. Only the
 * process of the root run's worker has it.
 */
export type Budget = ReturnType<typeof openBudget>;

// As a share of the need, so that most runs extend their hold once.
const EXTRA = new Decimal("0.25");

/** Each work starts with the rest of the budget that the previous one left. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}

/**
 * Opens the budget of a root run. `alreadyUsed` includes its open children. Usage never exceeds the hold, and the
 * hold never exceeds the balance.
 */
export function openBudget(worker: Worker, run: ClaimedRun, alreadyUsed: Decimal) {
  // What is neither used nor reserved. A child that ends takes its usage out of the hold, which does not change it.
  let free = run.held.sub(alreadyUsed);
  const enqueue = createQueue();

  const extend = async (amount: Decimal): Promise<boolean> => {
    const isHeld = await worker.accounts.hold({ run: run.id, org: run.orgId, amount: amount.toFixed(4) });
    if (isHeld) free = free.add(amount);
    return isHeld;
  };
  // False if the balance is too low.
  const extendHold = async (amount: Decimal): Promise<boolean> => {
    const missing = amount.sub(free);
    if (missing.lte(0)) return true;
    const extra = amount.mul(EXTRA).toDecimalPlaces(4, Decimal.ROUND_UP);
    return (extra.gt(0) && (await extend(missing.add(extra)))) || extend(missing);
  };

  return {
    // Throws LimitReached, WorkerLost.
    reserve: ({ minimum, wanted }: Reservation) =>
      enqueue(async () => {
        for (const amount of wanted.gt(minimum) ? [wanted, minimum] : [minimum]) {
          if (await extendHold(amount)) {
            free = free.sub(amount);
            return amount;
          }
        }
        throw new LimitReached(
          "insufficient_credits",
          "Insufficient credits: the balance does not cover the next step of this run.",
        );
      }),
    // Extends the hold if the actual usage is more. Returns what can be charged.
    spend: (amount: Decimal, actual: Decimal) =>
      enqueue(async () => {
        free = free.add(amount);
        const room = await extendHold(actual);
        // Usage above the output limit, if a provider ignores it, is charged only as far as the balance allows.
        const charged = room ? actual : Decimal.max(ZERO, Decimal.min(actual, free));
        free = free.sub(charged);
        return charged;
      }),
  };
}

/**
 * The same budget within the cap of a root run or of a tool or agent that it called. `alreadyUsed` includes the
 * run's children. A free call is never rejected.
 */
export function capBudget(budget: Budget, cap: Cap | null, alreadyUsed: Decimal): Budget {
  if (cap === null) return budget;
  let used = alreadyUsed;
  let reserved = ZERO;
  const enqueue = createQueue();
  return {
    reserve: ({ least, minimum, wanted }) =>
      enqueue(async () => {
        const left = cap.credits.sub(used).sub(reserved);
        if (wanted.gt(0) && (left.lt(least) || left.lte(0))) {
          throw new LimitReached(
            "max_credits",
            `The run reached its cap of ${cap.credits} credits (maxCredits of ${cap.of}): ${used} are used, and the next step may cost more than the rest.`,
          );
        }
        const within = (amount: Decimal) => Decimal.max(ZERO, Decimal.min(amount, left));
        const amount = await budget.reserve({ least, minimum: within(minimum), wanted: within(wanted) });
        reserved = reserved.add(amount);
        return amount;
      }),
    spend: (amount, actual) =>
      enqueue(async () => {
        const charged = await budget.spend(amount, actual);
        reserved = reserved.sub(amount);
        used = used.add(charged);
        return charged;
      }),
  };
}
