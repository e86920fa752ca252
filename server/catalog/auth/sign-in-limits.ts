import { sha256 } from "@/server/base/sha256";
import type { Services } from "@/server/catalog/services";
import { guardKey } from "@/server/guard/limits/memory-guards";
import { acquireRate, releaseRate, requireRate } from "@/server/guard/limits/rate-limit";

// Never reset, so that a sign-in of one's own hides no guesses.
const PER_ADDRESS = { limit: 60, seconds: 60 };

/**
 * Delays attempts and never rejects them: somebody behind the same proxy must not lock a person out. Beyond
 * `undelayed` attempts, each waits longer than the one before.
 */
type Delay = { limit: number; seconds: number; undelayed: number; msEach: number };
// For one person from one address; a successful sign-in resets the count.
const PER_PAIR: Delay = { limit: 100, seconds: 600, undelayed: 5, msEach: 500 };
const PER_EMAIL: Delay = { limit: 200, seconds: 600, undelayed: 20, msEach: 100 };
const MAX_DELAY_MS = 5_000;

type SignInAttempt = {
  /** Exactly the email that is looked up. */
  email: string;
  clientAddress: string;
  sleep: (ms: number) => Promise<void>;
};

const hash = (text: string) => sha256(text).toString("hex");
const pairKey = ({ email, clientAddress }: SignInAttempt) =>
  `sign-in-pair:${hash(`${guardKey(clientAddress)} ${email}`)}`;

/** Counts a sign-in attempt before its password is checked. Waits if there were many; throws rate_limited. */
export async function admitSignIn(
  services: Pick<Services, "clock" | "pool">,
  attempt: SignInAttempt,
): Promise<void> {
  const { email, clientAddress, sleep } = attempt;
  const message = "Too many attempts to sign in.";
  await requireRate(services, { key: `sign-in:${guardKey(clientAddress)}`, ...PER_ADDRESS, message });
  const delayMs = Math.max(
    await countDelay(services, pairKey(attempt), PER_PAIR),
    await countDelay(services, `sign-in-email:${hash(email)}`, PER_EMAIL),
  );
  if (delayMs > 0) await sleep(delayMs);
}

async function countDelay(
  { pool, clock }: Pick<Services, "clock" | "pool">,
  key: string,
  delay: Delay,
): Promise<number> {
  const { limit, seconds, undelayed, msEach } = delay;
  const { remaining, allowed } = await acquireRate(pool, { key, limit, seconds }, { clock });
  if (!allowed) return MAX_DELAY_MS;
  return Math.min(MAX_DELAY_MS, Math.max(0, limit - remaining - undelayed) * msEach);
}

/** Resets the count of this person at this address, after the right password. */
export async function forgiveSignIn(services: Pick<Services, "pool">, attempt: SignInAttempt): Promise<void> {
  await releaseRate(services.pool, [pairKey(attempt)]);
}
