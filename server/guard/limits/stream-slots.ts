import type { ApiKeyActor, MemberActor } from "@/server/base/actor";
import { perOwner } from "@/server/base/per-owner";

/** The most live streams of one process. Each visible tab that shows runs holds one. */
export const STREAM_LIMITS = { person: 20, key: 50, organization: 200, process: 500 };

/** So that some organizations cannot take all: the last slots of a process are for those with few streams. */
const LAST = { slots: 100, ofOrganization: 20 };

const REJECTIONS = {
  person: `You have ${STREAM_LIMITS.person} live views open, which is the limit. Close some tabs.`,
  key: `This API key has ${STREAM_LIMITS.key} streams open, which is the limit.`,
  organization: `Your organization has ${STREAM_LIMITS.organization} live views open, which is the limit.`,
  process: "This server has too many live views open. Try again later.",
};

declare global {
  var stepwellStreamSlots: ((process: object) => Map<string, number>) | undefined;
}

// On globalThis, because Next may bundle a copy of this module with each route.
globalThis.stepwellStreamSlots ??= perOwner(() => new Map<string, number>());
const takenIn = globalThis.stepwellStreamSlots;

/**
 * Acquires a slot for a live stream from the limits of the person or key, the organization and the process. Returns an
 * idempotent `release`, or the reason why there is no slot.
 */
export function acquireStreamSlot(
  services: { pool: object },
  reader: Pick<MemberActor, "orgId" | "userId"> | Pick<ApiKeyActor, "orgId" | "apiKeyId">,
): { release: () => void } | { rejection: string } {
  const taken = takenIn(services.pool);
  const counts: { of: keyof typeof STREAM_LIMITS; key: string }[] = [
    "userId" in reader
      ? { of: "person", key: `person ${reader.userId}` }
      : { of: "key", key: `key ${reader.apiKeyId}` },
    { of: "organization", key: `organization ${reader.orgId}` },
    { of: "process", key: "process" },
  ];
  const count = (key: string) => taken.get(key) ?? 0;
  const full = counts.find(({ of, key }) => count(key) >= STREAM_LIMITS[of]);
  if (full) return { rejection: REJECTIONS[full.of] };
  const isLast = count("process") >= STREAM_LIMITS.process - LAST.slots;
  if (isLast && count(`organization ${reader.orgId}`) >= LAST.ofOrganization)
    return { rejection: REJECTIONS.process };
  for (const { key } of counts) taken.set(key, (taken.get(key) ?? 0) + 1);
  let held = true;
  const release = () => {
    if (!held) return;
    held = false;
    for (const { key } of counts) {
      const left = (taken.get(key) ?? 1) - 1;
      if (left === 0) taken.delete(key);
      else taken.set(key, left);
    }
  };
  return { release };
}
