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

/** What something is to be covered with before it is done; `least` ≤ `minimum` ≤ `wanted`. */
export type Cover = {
  /** Less than this makes no sense: where the cap leaves less, the run ends. */
  least: Decimal;
  /** What the balance must have, or as much of it as the cap leaves. */
  minimum: Decimal;
  /** Taken when cap and balance leave it. */
  wanted: Decimal;
};

/** A cover that is taken whole or not at all. */
export const exactly = (amount: Decimal): Cover => ({ least: amount, minimum: amount, wanted: amount });

/**
 * What a run and its children may still spend: everything that costs is covered before it is done and paid after. One
 * purse lives in the one process that owns the run; one of a worker that lost it extends no hold any more, and everything
 * throws RunLost then.
 */
export type Purse = {
  /** Sets credits aside before something is done; returns how much. Throws CapReached, CreditsExhausted. */
  reserve(cover: Cover): Promise<Decimal>;
  /** Turns what was set aside into what was used, extending the hold if more was. Returns what can be charged. */
  spend(reserved: Decimal, used: Decimal): Promise<Decimal>;
};

/** Parallel calls take turns: each sees what the one before it left. */
function takingTurns() {
  let turn: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => {});
    return next;
  };
}

/**
 * Opens the purse of a root run claimed with `epoch`, on its hold and the organization's balance. `used` is what the run and
 * its open children have used so far. Used credits never exceed the hold, and the hold never exceeds the balance.
 */
export function openPurse(
  services: Services,
  run: { id: string; epoch: number; held: Decimal; used: Decimal },
): Purse {
  // A child that ends takes as much from the hold as it has used: what is left between the two stays, so neither moves.
  let { held, used } = run;
  let reserved = ZERO;
  const inTurn = takingTurns();

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

  return {
    reserve: ({ minimum, wanted }) =>
      inTurn(async () => {
        for (const amount of wanted.gt(minimum) ? [wanted, minimum] : [minimum]) {
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
  };
}

/**
 * The same purse within a cap: that of a root run, or of a tool that an agent called, inside its caller's. `spent` is what
 * the run and its children have used so far. What costs nothing is never refused.
 */
export function capPurse(purse: Purse, cap: Cap | null, spent: Decimal): Purse {
  if (cap === null) return purse;
  let used = spent;
  let reserved = ZERO;
  const inTurn = takingTurns();
  return {
    reserve: ({ least, minimum, wanted }) =>
      inTurn(async () => {
        const left = cap.credits.sub(used).sub(reserved);
        if (wanted.gt(0) && (left.lt(least) || left.lte(0))) {
          throw new CapReached(
            `The run reached its cap of ${cap.credits} credits (maxCredits of ${cap.of}): ${used} are used, and the next step may cost more than the rest.`,
          );
        }
        const within = (amount: Decimal) => Decimal.max(ZERO, Decimal.min(amount, left));
        const amount = await purse.reserve({ least, minimum: within(minimum), wanted: within(wanted) });
        reserved = reserved.add(amount);
        return amount;
      }),
    spend: (amount, actual) =>
      inTurn(async () => {
        const charged = await purse.spend(amount, actual);
        reserved = reserved.sub(amount);
        used = used.add(charged);
        return charged;
      }),
  };
}
