import { randomBytes } from "node:crypto";
import { z } from "zod";
import { AppError } from "@/server/errors";
import { recordAudit } from "@/server/operate/audit";
import { hashToken, newTriggerToken, tokenPurpose } from "@/server/webhooks/token";
import { type CatalogServices, type Change, changeCatalog, type Editor } from "./change";
import { parseInput, refusal } from "./issues";
import { addSecret, describeSecretFault } from "./save-trigger";

const MAX_OVERLAP_SECONDS = 30 * 24 * 3600;

export const rotation = z.strictObject({
  id: z.uuid(),
  /** Default: a generated secret. */
  secret: z.string().min(1).max(1_000).optional(),
  /** How long earlier secrets stay valid. */
  overlapSeconds: z.int().min(0).max(MAX_OVERLAP_SECONDS),
});

/**
 * Creates a new signing secret for a trigger. Earlier ones stay valid for the overlap, in which senders can switch. Returns
 * the secret, this once. Needs the role member. Throws `not_found`, `invalid_request`, `forbidden`.
 */
export async function rotateTriggerSecret(
  services: CatalogServices,
  actor: Editor,
  input: z.input<typeof rotation>,
): Promise<{ secret: string; earlierUntil: Date | null }> {
  const { id, overlapSeconds, ...given } = parseInput(rotation, input);
  return changeCatalog(services, { actor, role: "member" }, async (change) => {
    const { tx, at } = change;
    const trigger = await requireTrigger(change, id);
    const signature = trigger.signatureScheme === "hex" ? "hex" : "standard-webhooks";
    const secret = given.secret ?? createSecret(signature);
    const fault = describeSecretFault(signature, secret);
    if (fault !== null) throw refusal([{ path: "/secret", message: fault }]);

    const until = new Date(at.getTime() + overlapSeconds * 1000);
    const earlier = await tx.triggerSecret.updateMany({
      where: { triggerId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: until } }] },
      data: { expiresAt: until },
    });
    await tx.triggerSecret.deleteMany({ where: { triggerId: id, expiresAt: { lte: at } } });
    await addSecret(change, id, secret);
    await recordAudit(change, {
      verb: "secret_rotated",
      subject: { kind: "trigger", id, name: trigger.name },
      changes: { overlapSeconds },
    });
    return { secret, earlierUntil: earlier.count > 0 && overlapSeconds > 0 ? until : null };
  });
}

/** Gives a trigger a new URL; the earlier one answers 404 immediately. Needs the role member. Throws `not_found`. */
export async function rotateTriggerToken(
  services: CatalogServices,
  actor: Editor,
  { id }: { id: string },
): Promise<{ token: string }> {
  return changeCatalog(services, { actor, role: "member" }, async (change) => {
    const { tx, encryption, at } = change;
    const trigger = await requireTrigger(change, id);
    const token = newTriggerToken();
    await tx.trigger.update({
      where: { id },
      data: {
        tokenHash: Uint8Array.from(hashToken(token)),
        tokenSealed: encryption.seal(token, tokenPurpose(id)),
        updatedAt: at,
      },
    });
    await recordAudit(change, {
      verb: "address_changed",
      subject: { kind: "trigger", id, name: trigger.name },
    });
    return { token };
  });
}

/** A trigger of the organization. Throws `not_found`. */
export async function requireTrigger({ tx, actor }: Change, id: string) {
  const found = await tx.trigger.findFirst({ where: { id, organizationId: actor.orgId, deletedAt: null } });
  if (!found) throw new AppError("not_found", "Trigger not found.");
  return found;
}

/** Generates a signing secret for a scheme. */
export function createSecret(signature: "hex" | "standard-webhooks"): string {
  return signature === "hex"
    ? randomBytes(32).toString("hex")
    : `whsec_${randomBytes(32).toString("base64")}`;
}
