/** An organization's runs with slots in this process, and those waiting that its plan allows. */
export type Share = { organizationId: string; running: number; waiting: number };

/**
 * The slots that each organization must yield while all are taken. Each goes from the organization with the most
 * slots to the one with the fewest, as long as the giver keeps at least as many.
 */
export function slotsToYield(shares: readonly Share[]): Map<string, number> {
  const owed = new Map<string, number>();
  const left = shares.map((share) => ({ ...share }));
  for (;;) {
    const receiver = fewestSlots(left.filter(({ waiting }) => waiting > 0));
    const giver = mostSlots(left);
    if (receiver === undefined || giver === undefined) return owed;
    if (giver.running - 1 < receiver.running + 1) return owed;
    giver.running -= 1;
    receiver.running += 1;
    receiver.waiting -= 1;
    owed.set(giver.organizationId, (owed.get(giver.organizationId) ?? 0) + 1);
  }
}

function fewestSlots(shares: readonly Share[]): Share | undefined {
  let [found] = shares;
  for (const share of shares) if (found && share.running < found.running) found = share;
  return found;
}

function mostSlots(shares: readonly Share[]): Share | undefined {
  let [found] = shares;
  for (const share of shares) if (found && share.running > found.running) found = share;
  return found;
}
