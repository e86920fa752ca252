/** An organization's runs with slots in this process, and those waiting that its plan allows. */
export type Share = { organizationId: string; running: number; waiting: number };

/**
 * How many slots each organization must yield while all are taken. Waiting runs get slots one by one, organizations
 * with the fewest first, from the one with the most, as long as that keeps at least as many as the other then has.
 */
export function slotsToYield(shares: readonly Share[]): Map<string, number> {
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
