/** An organization's runs that have slots in this process, and those that wait for one and may have it by their plan. */
export type Share = { organizationId: string; running: number; waiting: number };

/**
 * How many slots each organization is to yield while all are taken: every waiting run, those of the organization with the
 * fewest slots first, gets one of whoever has the most, as long as that one still has no fewer than the taker then.
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
