import { z } from "zod";
import type { OrgId } from "@/server/auth/actor";
import { ringRun } from "@/server/live/doorbell";
import type { Services } from "@/server/services";
import type { ClaimedRun } from "./lifecycle";

/**
 * Places in turn. An engine executes so many runs at a time. While runs of one organization have all its places, another's
 * must not wait until they have ended: they give places back between two steps, and are admitted again in their turn
 * (product.md, "Durability promises" 6). Rows alone decide, so it works alike on both engines and over processes.
 */

/** An organization's runs that have places, and those that have waited for one too long. */
export type Share = { organizationId: string; running: number; waiting: number };

/**
 * How many places each organization owes to others: every waiting run, those of the organization with the fewest places
 * first, gets one of whoever has the most, as long as the giver still has no fewer than the taker then.
 */
export function owedPlaces(shares: readonly Share[]): Map<string, number> {
  const owed = new Map<string, number>();
  const left = shares.map((share) => ({ ...share }));
  for (;;) {
    const taker = left
      .filter(({ waiting }) => waiting > 0)
      .reduce<Share | undefined>(
        (least, one) => (least && least.running <= one.running ? least : one),
        undefined,
      );
    const giver = left.reduce<Share | undefined>(
      (most, one) => (most && most.running >= one.running ? most : one),
      undefined,
    );
    if (taker === undefined || giver === undefined || giver.running - 1 < taker.running + 1) return owed;
    giver.running -= 1;
    taker.running += 1;
    taker.waiting -= 1;
    owed.set(giver.organizationId, (owed.get(giver.organizationId) ?? 0) + 1);
  }
}

const owedBy = new WeakMap<Services, { places: Map<string, number>; patienceMs: number }>();

const shareRow = z.object({ organizationId: z.string(), running: z.int(), waiting: z.int() });

/**
 * Looks whether runs that were admitted more than `beginsWithinMs` ago still wait for a place, and notes which
 * organizations owe them one, for `owesPlace`. Returns whether there are any. A process that has a free place owes none.
 */
export async function lookForCrowd(
  services: Services,
  { full, beginsWithinMs }: { full(): boolean; beginsWithinMs: number },
): Promise<boolean> {
  if (!full()) {
    owedBy.delete(services);
    return false;
  }
  const { rows } = await services.pool.query(
    `SELECT organization_id AS "organizationId", count(*) FILTER (WHERE heartbeat_at IS NOT NULL)::int AS running,
            count(*) FILTER (WHERE heartbeat_at IS NULL AND admitted_at < $1)::int AS waiting
     FROM runs WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL AND waiting_since IS NULL
       AND parent_run_id IS NULL
     GROUP BY organization_id`,
    [new Date(services.clock.now().getTime() - beginsWithinMs)],
  );
  const places = owedPlaces(z.array(shareRow).parse(rows));
  owedBy.set(services, { places, patienceMs: beginsWithinMs });
  return places.size > 0;
}

/** A worker's hold of a run's place. Child runs execute on the place of their root. */
export type Place = {
  orgId: OrgId;
  /** The run has it for the first time and has not come to a step: it was ahead in the engine's queue of who waits. */
  untried: boolean;
  /** When the run had given it back and got it again; null: it has it still from before. */
  regainedAt: Date | null;
  /** Whether something was finished on it. */
  used: boolean;
};

/** The place on which a worker has claimed a run; `wokenFor` as in `claimRun`. */
export function takePlace(services: Services, run: ClaimedRun, wokenFor?: number): Place {
  const untried = run.epoch === 1;
  const regained = !untried && run.epoch - 1 === wokenFor;
  return {
    orgId: run.orgId,
    untried,
    regainedAt: regained ? services.clock.now() : null,
    used: false,
  };
}

/**
 * Whether a run that comes to a step is to give its place back; asking counts as giving. With its first place it always
 * does before its first step while its organization owes any. One that it got again it keeps until something was finished on it, and
 * as long as newcomers are patient: else a run would only change places where beginning takes long for other reasons.
 */
export function owesPlace(services: Services, place: Place): boolean {
  const { untried, regainedAt, used } = place;
  place.untried = false;
  const owed = owedBy.get(services);
  const places = owed?.places.get(place.orgId);
  if (owed === undefined || places === undefined) return false;
  if (untried) return true;
  if (regainedAt !== null) {
    const hadForMs = services.clock.now().getTime() - regainedAt.getTime();
    if (!used || hadForMs < owed.patienceMs) return false;
  }
  owed.places.set(place.orgId, Math.max(0, places - 1));
  return places > 0;
}

/**
 * Gives a run's place back: nobody has the run until it is admitted again, in its organization's turn, and this worker
 * is refused from now on. False, changing nothing, when the run is to be cancelled, has ended or has another worker.
 */
export async function giveBack(services: Services, run: ClaimedRun): Promise<boolean> {
  const { rows } = await services.pool.query<{ sequence: number }>(
    `UPDATE runs SET admitted_at = NULL, heartbeat_at = NULL, claimed_by = NULL, epoch = epoch + 1, sequence = sequence + 1,
                     gave_back_at = gave_back_at || $3::timestamptz
     WHERE id = $1 AND epoch = $2 AND status = 'Running' AND cancel_requested_at IS NULL RETURNING sequence`,
    [run.id, run.epoch, services.clock.now()],
  );
  const [row] = rows;
  if (row === undefined) return false;
  ringRun(services, run.orgId, run.id, row.sequence);
  services.engine.ring();
  return true;
}
