import { signingSecretPurpose, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import { secretValuePurpose } from "@/server/guard/secrets/encryption";
import type { Services } from "@/server/services";

/** Triggers and secrets, as `trigger ORG/SLUG` and `secret ORG/NAME`, that this STEPWELL_SECRET cannot decrypt. */
export async function findUnreadable({
  db,
  encryption,
}: Pick<Services, "db" | "encryption">): Promise<string[]> {
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
  return [...lostTriggers, ...lostSecrets];
}
