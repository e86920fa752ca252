import { rotateSecret } from "@/server/operate/rotate-secret";
import { readSecretFingerprint, setSecretFingerprint } from "@/server/secrets/fingerprint";
import { secretValuePurpose } from "@/server/secrets/purpose";
import type { Services } from "@/server/services";
import { secretPurpose, tokenPurpose } from "@/server/webhooks/token";
import { CommandError, defineCommand } from "./command";

/** `service-secret adopt`: for an operator who lost STEPWELL_SECRET. */
export const adoptSecretCommand = defineCommand({
  name: "service-secret adopt",
  parameters: "",
  summary: "Accept a new STEPWELL_SECRET when the earlier one is lost",
  options: {},
  anySecret: true,
  async run({ services, terminal }) {
    const known = await readSecretFingerprint(services);
    await setSecretFingerprint(services);
    const lost = await findUnreadable(services);
    if (known === services.encryption.fingerprint)
      terminal.out("The database already uses this STEPWELL_SECRET.");
    else terminal.out("The database now uses this STEPWELL_SECRET.");
    if (lost.length > 0) {
      terminal.out(
        [
          "These can no longer be read:",
          ...lost.map((each) => `  ${each}`),
          "Set the values of secrets again. Addresses of triggers still work if the trigger has no signing secret.",
          "Apply their definitions again with their secrets. A token that cannot be read is then replaced.",
        ].join("\n"),
      );
    }
  },
});

/** `service-secret rotate`: from STEPWELL_SECRET_PREVIOUS to STEPWELL_SECRET. */
export const rotateSecretCommand = defineCommand({
  name: "service-secret rotate",
  parameters: "",
  summary: "Encrypt everything with a new STEPWELL_SECRET",
  options: {},
  async run({ services, terminal }) {
    if (services.encryption.previousFingerprint === null) {
      throw new CommandError(
        "Set STEPWELL_SECRET to the new secret and STEPWELL_SECRET_PREVIOUS to the present one, here and for every " +
          "process of the service. Then run this again.",
      );
    }
    const { resealed, unreadable } = await rotateSecret(services);
    terminal.out(`${resealed} stored secrets are now encrypted with STEPWELL_SECRET.`);
    if (unreadable > 0) {
      terminal.out(`${unreadable} could be read with neither secret; see \`doctor\`.`);
    }
    terminal.out("Remove STEPWELL_SECRET_PREVIOUS and restart every process of the service.");
  },
});

/** Triggers and secrets, as `trigger ORG/SLUG` and `secret ORG/NAME`, that this STEPWELL_SECRET cannot decrypt. */
export async function findUnreadable({ db, encryption }: Services): Promise<string[]> {
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
        !secrets.every(({ sealed }) => opens(sealed, secretPurpose(id))),
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
