import type { OrgId } from "@/server/base/actor";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { transact } from "@/server/base/db/transaction";
import { acquireRate } from "@/server/guard/limits/rate-limit";
import type { Services } from "@/server/guard/services";
import { MailError, type SendMail } from "./message";

/**
 * Limits the recipients of an organization per hour (SMTP_RECIPIENTS_PER_HOUR) across all processes, because all
 * organizations share the operator's SMTP server and its reputation. Waits while the database is unavailable. Throws
 * MailError.
 */
export function limitRecipients(
  { pool, clock, env, sendMail }: Pick<Services, "pool" | "clock" | "env" | "sendMail">,
  orgId: OrgId,
  retry = retryWhileUnavailable,
): SendMail | null {
  if (sendMail === null) return null;
  const window = { key: `mail:${orgId}`, limit: env.recipientsPerHour, seconds: 3_600 };
  return async (message, signal) => {
    const wanted = message.to.length;
    const acquire = () =>
      transact(pool, async (client) => {
        const { granted, resetSeconds } = await acquireRate(client, window, { wanted, clock });
        // Rolls back: a message that is not sent uses up no recipients.
        if (granted < wanted)
          throw new MailError(describeLimit(window.limit, resetSeconds), { isLimit: true });
      });
    // If the answer to a commit is lost, the message counts twice.
    await retry(acquire, signal);
    return sendMail(message, signal);
  };
}

const describeLimit = (limit: number, resetSeconds: number) =>
  `This email would exceed the organization's limit of ${limit} recipients in an hour. Try again in ${resetSeconds} s.`;
