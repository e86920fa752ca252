import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import { DAY_MS, HOUR_MS } from "@/server/base/clock";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { sha256 } from "@/server/base/sha256";
import { createLink, deleteLinks } from "@/server/catalog/auth/one-time-links";
import type { Services } from "@/server/catalog/services";
import { idInput } from "@/server/contract/ids";
import { MAILED_LINK_LIFE } from "@/server/contract/limits";
import { guardKey } from "@/server/guard/limits/memory-guards";
import { acquireRate, requireRate } from "@/server/guard/limits/rate-limit";
import { type Change, catalogVerb } from "../change";
import { requireMember, requireOwnersConsent } from "./members";
import { recordPasswordAudit } from "./reset-password";

// Short, because anybody can ask for such a link.
const MAILED_FOR_MS = MAILED_LINK_LIFE.hours * HOUR_MS;
const HANDED_FOR_MS = DAY_MS;

const PER_ADDRESS = { limit: 20, seconds: 600 };
// Beyond it, requests are answered alike and send nothing.
const PER_EMAIL = { limit: 5, seconds: 3600 };
const SEND_TIMEOUT_MS = 60_000;

const addressOf = (appUrl: string, token: string) => `${appUrl}/reset-password#${token}`;

/**
 * Sends a person a link for a new password. Neither the answer nor its time depends on whether the email has an
 * account; `sending` is for tests. Throws `not_found` without SMTP, and `rate_limited`.
 */
export async function requestPasswordLink(
  services: Services,
  { email, clientAddress }: { email: string; clientAddress: string },
): Promise<{ sending: Promise<void> }> {
  if (services.sendMail === null) {
    const message =
      "This installation sends no email. Ask an admin or owner of your organization for a link.";
    throw new AppError("not_found", message);
  }
  const message = "Too many links were requested.";
  await requireRate(services, {
    key: `password-link:${guardKey(clientAddress)}`,
    ...PER_ADDRESS,
    message,
  });
  const sending = sendLink(services, email).catch((error: unknown) =>
    services.log.error("Could not send a link for a new password", { error }),
  );
  return { sending };
}

async function sendLink(services: Services, email: string): Promise<void> {
  const { db, pool, clock, env, sendMail, log } = services;
  const key = `password-link-email:${sha256(email).toString("hex")}`;
  const { allowed } = await acquireRate(pool, { key, ...PER_EMAIL }, { clock });
  const user = await db.user.findUnique({ where: { email }, select: { id: true } });
  if (!allowed || user === null || sendMail === null) return;
  const facts = { purpose: "password", userId: user.id } as const;
  const { token } = await createLink(db, facts, { at: clock.now(), validMs: MAILED_FOR_MS });
  const text = `Somebody asked for a new password of ${email} at ${env.appUrl}.

To set it, open this link within ${MAILED_LINK_LIFE.text}. It works once:

${addressOf(env.appUrl, token)}

If that was not you, ignore this email. Your password stays as it is.
`;
  const subject = "Set a new password for Stepwell";
  // The mail server is shared in turns between organizations, of which this is none.
  const mail = { organizationId: "", to: [email], subject, text, idempotencyKey: token };
  await sendMail(mail, AbortSignal.timeout(SEND_TIMEOUT_MS));
  log.info("A link for a new password was sent", { userId: user.id });
}

/**
 * Creates a link with which a member sets a new password, and deletes earlier ones. The link gives access to everything
 * of the person, so the person must belong to no other organization and not be an operator. Only owners create it for
 * owners.
 */
export const createMemberPasswordLink = catalogVerb(
  { role: "admin", input: z.strictObject({ userId: idInput() }) },
  async (change: Change<MemberActor>, { userId }) => {
    const { tx, actor, at } = change;
    const { role, user } = await requireMember(change, userId);
    if (userId === actor.userId)
      throw new AppError("forbidden", "Change your own password on the page Account.");
    requireOwnersConsent(actor, role, role);
    if (user.operatorSince !== null) {
      const message = `${user.email} is an operator of this installation. Only its command line can make a link.`;
      throw new AppError("forbidden", message);
    }
    if ((await tx.member.count({ where: { userId } })) > 1) {
      const message = `${user.email} belongs to another organization, too. Only the operator of this installation can make a link.`;
      throw new AppError("forbidden", message);
    }
    const facts = { purpose: "password", userId, organizationId: actor.orgId } as const;
    await deleteLinks(tx, facts);
    const { token, expiresAt } = await createLink(
      tx,
      { ...facts, createdBy: actor.userId },
      { at, validMs: HANDED_FOR_MS },
    );
    await recordAudit(change, {
      verb: "password_link_created",
      subject: { kind: "member", id: userId, name: user.email },
    });
    return { email: user.email, token, expiresAt: expiresAt.toISOString() };
  },
);

/** Creates a link for any person, for the operator. Throws `not_found`. */
export async function createOperatorPasswordLink(
  services: Pick<Services, "db" | "clock" | "env">,
  email: string,
  operatorName = "operator",
): Promise<{ address: string; expiresAt: Date }> {
  const at = services.clock.now();
  return transactPrisma(services.db, "short", async (tx) => {
    const user = await tx.user.findUnique({ where: { email }, select: { id: true } });
    if (user === null) throw new AppError("not_found", `${email} has no account.`);
    const facts = { purpose: "password", userId: user.id } as const;
    const { token, expiresAt } = await createLink(tx, facts, { at, validMs: HANDED_FOR_MS });
    const person = { id: user.id, email };
    await recordPasswordAudit(tx, person, { verb: "password_link_created", operatorName, at });
    return { address: addressOf(services.env.appUrl, token), expiresAt };
  });
}
