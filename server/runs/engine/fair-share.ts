/** An organization's runs with slots in this process, and those waiting that its plan allows. */
export type Share = { organizationId: string; running: number; waiting: number };

/**
 * How many slots each organization must yield while all are taken. Waiting runs get slots one by one, those of the
 * organization with the fewest slots first. Each slot comes from the organization with the most, as long as it then
 * still has at least as many as the other.
 */
export function slotsToYield(shares: readonly Share[]): Map<string, number> {
  const owed = new Map<string, number>();
  const left = shares.map((share) => ({ ...share }));
  for (;;) {
    const waiting = left
      .filter(({ waiting }) => waiting > 0)
      .reduce<Share | undefined>(
        (least, one) => (least && least.running <= one.running ? least : one),
        undefined,
      );
    const yielding = left.reduce<Share | undefined>(
      (most, one) => (most && most.running >= one.running ? most : one),
      undefined,
    );
    if (waiting === undefined || yielding === undefined || yielding.running - 1 < waiting.running + 1)
      return owed;
    yielding.running -= 1;
    waiting.running += 1;
    waiting.waiting -= 1;
    owed.set(yielding.organizationId, (owed.get(yielding.organizationId) ?? 0) + 1);
  }
}
