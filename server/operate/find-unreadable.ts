import { callbackSecretPurpose } from "@/server/catalog/callbacks/callback-secrets";
import { signingSecretPurpose, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import { secretValuePurpose } from "@/server/guard/secrets/encryption";
import type { Services } from "@/server/services";

/**
 * Triggers, secrets and callbacks, as `trigger ORG/SLUG`, `secret ORG/NAME` and `callback ORG/SLUG`, that this STEPWELL_SECRET cannot
 * decrypt. An endpoint without a slug has its name.
 */
export async function findUnreadable({
  db,
  encryption,
  clock,
}: Pick<Services, "db" | "encryption" | "clock">): Promise<string[]> {
  const triggers = await db.trigger.findMany({
    where: { deletedAt: null },
    include: { secrets: true, organization: { select: { slug: true } } },
    orderBy: { id: "asc" },
  });
  const secrets = await db.secret.findMany({
    where: { sealed: { not: null } },
    include: { organization: { select: { slug: true } } },
    orderBy: { id: "asc" },
  });
  const callbacks = await db.callbackEndpoint.findMany({
    where: { deletedAt: null },
    select: {
      id: true,
      slug: true,
      name: true,
      secrets: {
        where: { OR: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }] },
        select: { sealed: true },
      },
      organization: { select: { slug: true } },
    },
    orderBy: { id: "asc" },
  });
  const opens = (sealed: string, purpose: string) => encryption.openOrNull(sealed, purpose) !== null;
  const lostTriggers = triggers
    .filter(
      ({ id, tokenSealed, secrets }) =>
        !opens(tokenSealed, tokenPurpose(id)) ||
        !secrets.every(({ sealed }) => opens(sealed, signingSecretPurpose(id))),
    )
    .map(({ slug, organization }) => `trigger ${organization.slug}/${slug}`);
  const lostSecrets = secrets
    .filter(
      ({ sealed, organizationId, name }) =>
        sealed !== null && !opens(sealed, secretValuePurpose(organizationId, name)),
    )
    .map(({ name, organization }) => `secret ${organization.slug}/${name}`);
  const lostCallbacks = callbacks
    .filter(({ id, secrets }) => !secrets.every(({ sealed }) => opens(sealed, callbackSecretPurpose(id))))
    .map(({ slug, name, organization }) => `callback ${organization.slug}/${slug ?? name}`);
  return [...lostTriggers, ...lostSecrets, ...lostCallbacks];
}
