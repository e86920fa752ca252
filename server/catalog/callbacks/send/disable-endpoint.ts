import type { OrgId } from "@/server/base/actor";
import { recordSystemAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { transactPrisma } from "@/server/base/db/transaction";
import { countCallbacks } from "@/server/catalog/callbacks/save-callback";
import { lockCatalog, organizationLock } from "@/server/catalog/change";
import type { Services } from "@/server/catalog/services";
import { limitRecipients } from "@/server/guard/mail/limit-recipients";

const SEND_TIMEOUT_MS = 30_000;

type Failing = { orgId: OrgId; endpointId: string; failingSince: Date; lastError: string };

/** A suspension is not counted: the next failure counts as the first. */
export async function restartFailures(tx: Transaction, organizationId: OrgId): Promise<void> {
  await tx.callbackEndpoint.updateMany({
    where: { organizationId, failedAt: { not: null } },
    data: { failedAt: null },
  });
}

/** Disables an endpoint that failed for too long, and tells the organization's admins by email. */
export async function disableEndpoint(
  services: Services,
  { orgId, endpointId: id, failingSince, lastError }: Failing,
): Promise<void> {
  const at = services.clock.now();
  const disabled = await transactPrisma(services.db, "catalog", async (tx) => {
    // A callback that is saved meanwhile must be counted.
    await lockCatalog(tx, [organizationLock(orgId)]);
    const { count } = await tx.callbackEndpoint.updateMany({
      // Not one that succeeded meanwhile, or that a person changed.
      where: { id, organizationId: orgId, failingSince, disabledAt: null, deletedAt: null },
      data: { disabledAt: at, updatedAt: at },
    });
    if (count === 0) return null;
    const endpoint = await tx.callbackEndpoint.findUniqueOrThrow({ where: { id } });
    await recordSystemAudit(tx, orgId, {
      verb: "disabled",
      subject: { kind: "callback", id, name: endpoint.name },
      changes: { failingSince: failingSince.toISOString(), lastError },
      at,
    });
    await countCallbacks(tx, orgId);
    return endpoint;
  });
  if (disabled === null) return;
  services.log.warn("Disabled a callback that failed for three days", { orgId, callbackId: id });
  await tellAdmins(services, { orgId, endpointId: id, failingSince, lastError }, disabled.name).catch(
    (error: unknown) => services.log.warn("Could not send the email about a disabled callback", { error }),
  );
}

async function tellAdmins(
  services: Services,
  { orgId, endpointId, failingSince, lastError }: Failing,
  name: string,
): Promise<void> {
  const { db, env } = services;
  const sendMail = limitRecipients(services, orgId);
  const admins = await db.member.findMany({
    where: { organizationId: orgId, role: { in: ["owner", "admin"] } },
    select: { user: { select: { email: true } } },
    take: 50,
  });
  if (sendMail === null || admins.length === 0) return;
  const text = [
    `The callback "${name}" is disabled. Nothing was delivered since ${failingSince.toISOString()}.`,
    `The last attempt: ${lastError}`,
    `Events that it had not received are kept. Test the callback, turn it on and redeliver them:`,
    `${env.appUrl}/callbacks/${endpointId}`,
  ].join("\n\n");
  const mail = {
    organizationId: orgId,
    to: admins.map(({ user }) => user.email),
    subject: `Stepwell: the callback "${name.replace(/\s+/g, " ")}" is disabled`,
    text,
    idempotencyKey: `callback-disabled:${endpointId}:${failingSince.getTime()}`,
  };
  await sendMail(mail, AbortSignal.timeout(SEND_TIMEOUT_MS));
}
