import { createHash } from "node:crypto";
import { AppError } from "@/server/errors";
import { guardKey } from "@/server/limits/memory-guards";
import { acquireRate, type RateLimit, releaseRate } from "@/server/limits/rate-limit";
import type { Services } from "@/server/services";

/** Attempts for one person from one address; a successful sign-in resets the count. */
const PER_PAIR = { limit: 10, seconds: 600 };
/** Attempts from one address. Never reset: an attacker's own successful sign-in must not hide guesses. */
const PER_ADDRESS = { limit: 60, seconds: 60 };
/** Attempts for one person from anywhere. They are delayed, never refused: a stranger must not lock anybody out. */
const PER_EMAIL = { limit: 200, seconds: 600 };
const UNDELAYED = 20;
const DELAY_MS_EACH = 100;
const MAX_DELAY_MS = 5_000;

export type SignInAttempt = {
  /** Exactly the email that is looked up. */
  email: string;
  clientAddress: string;
  sleep: (ms: number) => Promise<void>;
};

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const pairKey = ({ email, clientAddress }: SignInAttempt) =>
  `sign-in-pair:${hash(`${guardKey(clientAddress)} ${email}`)}`;

/** Counts a sign-in attempt before its password is checked. Waits if this email had many; throws rate_limited. */
export async function admitSignIn(services: Services, attempt: SignInAttempt): Promise<void> {
  const { email, clientAddress, sleep } = attempt;
  await take(services, { key: `sign-in:${guardKey(clientAddress)}`, ...PER_ADDRESS });
  await take(services, { key: pairKey(attempt), ...PER_PAIR });
  const ofEmail = { key: `sign-in-email:${hash(email)}`, ...PER_EMAIL };
  const { remaining } = await acquireRate(services.pool, ofEmail, { clock: services.clock });
  const delayed = PER_EMAIL.limit - remaining - UNDELAYED;
  if (delayed > 0) await sleep(Math.min(MAX_DELAY_MS, delayed * DELAY_MS_EACH));
}

/** Resets the count of this person at this address, after the right password. */
export async function forgiveSignIn(services: Services, attempt: SignInAttempt): Promise<void> {
  await releaseRate(services.pool, pairKey(attempt));
}

async function take(services: Services, limit: RateLimit): Promise<void> {
  const { allowed, resetSeconds } = await acquireRate(services.pool, limit, { clock: services.clock });
  if (allowed) return;
  throw new AppError("rate_limited", `Too many attempts to sign in. Try again in ${resetSeconds} s.`, {
    headers: { "retry-after": String(resetSeconds) },
  });
}
