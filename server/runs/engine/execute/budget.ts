import { Decimal, ZERO } from "@/server/base/amount";
import type { Cap, ClaimedRun } from "../claimed-run";
import type { Worker } from "../port";
import { CapReached, CreditsExhausted } from "./interruptions";

/** The credits that a call reserves before it starts; `least` ≤ `minimum` ≤ `wanted`. */
type Reservation = {
  /** With less, the call is pointless: if the cap allows less, the run ends. */
  least: Decimal;
  /** The balance must allow this, or as much of it as the cap does. */
  minimum: Decimal;
  /** Reserved if cap and balance allow it. */
  wanted: Decimal;
};

/** A reservation that is granted completely or not at all. */
export const exactly = (amount: Decimal): Reservation => ({ least: amount, minimum: amount, wanted: amount });

/**
 * The credits that a run and its children may still spend. Credits are reserved before a call and spent after it. One
 * budget exists in the process whose worker has the root run.
 */
export type Budget = ReturnType<typeof openBudget>;

/** The extension of the hold beyond the need, as a share of it: most runs extend it once. */
const EXTRA = new Decimal("0.25");

/** Executes work one by one, so that each starts with the rest of the budget that the previous one left. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}

/**
 * Opens the budget of a root run from its hold and the organization's balance. `alreadyUsed` is the usage of the run
 * and its open children. Usage never exceeds the hold, and the hold never exceeds the balance.
 */
export function openBudget(worker: Worker, run: ClaimedRun, alreadyUsed: Decimal) {
  // A child that ends takes its usage out of the hold: the rest of both is unchanged.
  let { held } = run;
  let used = alreadyUsed;
  let reserved = ZERO;
  const enqueue = createQueue();

  const extend = async (amount: Decimal): Promise<boolean> => {
    const isHeld = await worker.accounts.hold({ run: run.id, org: run.orgId, amount: amount.toFixed(4) });
    if (isHeld) held = held.add(amount);
    return isHeld;
  };
  /** Makes sure that the hold covers `amount` and all used and reserved credits; false if the balance is too low. */
  const extendHold = async (amount: Decimal): Promise<boolean> => {
    const missing = used.add(reserved).add(amount).sub(held);
    if (missing.lte(0)) return true;
    const extra = amount.mul(EXTRA).toDecimalPlaces(4, Decimal.ROUND_UP);
    return (extra.gt(0) && (await extend(missing.add(extra)))) || extend(missing);
  };

  return {
    /** Reserves credits; returns how many. Throws CapReached, CreditsExhausted, WorkerLost. */
    reserve: ({ minimum, wanted }: Reservation) =>
      enqueue(async () => {
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
    /** Replaces a reservation by the actual usage, extending the hold if that is more. Returns what can be charged. */
    spend: (amount: Decimal, actual: Decimal) =>
      enqueue(async () => {
        reserved = reserved.sub(amount);
        const room = await extendHold(actual);
        // Usage above the output limit, if a provider ignores it, is charged only as far as the balance allows.
        const charged = room ? actual : Decimal.max(ZERO, Decimal.min(actual, held.sub(used).sub(reserved)));
        used = used.add(charged);
        return charged;
      }),
  };
}

/**
 * The same budget within a cap: a root run's, or that of a tool or agent that a run called. `alreadyUsed` is the usage
 * of the run and its children. A free call is never rejected.
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
      enqueue(async () => {
        const charged = await budget.spend(amount, actual);
        reserved = reserved.sub(amount);
        used = used.add(charged);
        return charged;
      }),
  };
}
