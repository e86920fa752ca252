import { randomBytes } from "node:crypto";
import { z } from "zod";
import { recordAudit } from "@/server/base/audit";
import { AppError } from "@/server/base/errors";
import { rejection } from "@/server/base/issues";
import { sha256 } from "@/server/base/sha256";
import { newTriggerToken, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import { DEFINITION_STATUSES } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { type Author, type Change, catalogVerb } from "./change";
import { type TriggerDefinition, triggerDefinition } from "./definitions";
import { addSigningSecret, describeSigningSecretIssue, putTrigger } from "./save-trigger";
import { overlapSeconds, requireFewSecrets } from "./signing-secrets";
import { type SignatureDefinition, senderOf, storedSignature } from "./webhooks/senders/signature-definition";

/** Creates a trigger whose slug is free. `generateSecret` takes the place of `secret`, which is returned this once. */
export const createTrigger = catalogVerb(
  { role: "member", input: triggerDefinition.safeExtend({ generateSecret: z.boolean() }) },
  (change, { generateSecret, ...definition }) => putNewTrigger(change, definition, { generateSecret }),
);

/** `createTrigger` within a change, for a parsed definition. */
export async function putNewTrigger(
  change: Change<Author>,
  definition: TriggerDefinition,
  { generateSecret }: { generateSecret: boolean },
) {
  const secret = generateSecret ? generateSigningSecret(definition.signature) : null;
  const trigger = { ...definition, secret: secret ?? definition.secret ?? null };
  return { ...(await putTrigger(change, trigger, { only: "create" })), secret };
}

/** Enables or disables a trigger; a disabled one rejects calls. Throws `not_found`. */
export const setTriggerStatus = catalogVerb(
  { role: "member", input: z.object({ id: idInput(), status: z.enum(DEFINITION_STATUSES) }) },
  async (change, { id, status }) => {
    const { tx, at } = change;
    const { name, disabledAt } = await requireTrigger(change, id);
    const before = disabledAt === null ? "active" : "inactive";
    if (before === status) return;
    const data = { disabledAt: status === "active" ? null : at, updatedAt: at };
    await tx.trigger.update({ where: { id }, data });
    const changes = { status: { from: before, to: status } };
    await recordAudit(change, { verb: "updated", subject: { kind: "trigger", id, name }, changes });
  },
);

/** Creates a signing secret and returns it, this once. Earlier ones stay valid for the overlap. Throws `not_found`. */
export const rotateTriggerSecret = catalogVerb(
  {
    role: "member",
    input: z.strictObject({
      id: idInput(),
      /** Default: a generated secret. */
      secret: z.string().min(1).max(1_000).optional(),
      overlapSeconds,
    }),
  },
  async (change, { id, overlapSeconds: seconds, secret: given }) => {
    const { tx, at } = change;
    const { name, ...found } = await requireTrigger(change, id);
    const signature = storedSignature.parse(found.signature);
    const secret = given ?? generateSigningSecret(signature);
    const issue = describeSigningSecretIssue(signature, secret);
    if (issue !== null) throw rejection([{ path: "/secret", message: issue }]);

    const until = new Date(at.getTime() + seconds * 1000);
    const earlier = await tx.triggerSecret.updateMany({
      where: { triggerId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: until } }] },
      data: { expiresAt: until },
    });
    await tx.triggerSecret.deleteMany({ where: { triggerId: id, expiresAt: { lte: at } } });
    requireFewSecrets(await tx.triggerSecret.count({ where: { triggerId: id } }));
    await addSigningSecret(change, id, secret);
    // An API client that read the trigger before must not replace the new secret.
    await tx.trigger.update({ where: { id }, data: { updatedAt: at } });
    const changes = { overlapSeconds: seconds };
    await recordAudit(change, { verb: "secret_rotated", subject: { kind: "trigger", id, name }, changes });
    return { secret, earlierUntil: earlier.count > 0 && seconds > 0 ? until : null };
  },
);

/** Gives a trigger a new URL; the earlier one answers 404 immediately. Throws `not_found`. */
export const rotateTriggerToken = catalogVerb(
  { role: "member", input: z.object({ id: idInput() }) },
  async (change, { id }) => {
    const { tx, encryption, at } = change;
    const { name } = await requireTrigger(change, id);
    const token = newTriggerToken();
    const tokenHash = sha256(token);
    const tokenSealed = encryption.seal(token, tokenPurpose(id));
    await tx.trigger.update({ where: { id }, data: { tokenHash, tokenSealed, updatedAt: at } });
    await recordAudit(change, { verb: "address_changed", subject: { kind: "trigger", id, name } });
    return { token };
  },
);

async function requireTrigger({ tx, actor }: Change, id: string) {
  const found = await tx.trigger.findFirst({ where: { id, organizationId: actor.orgId, deletedAt: null } });
  if (!found) throw new AppError("not_found", "Trigger not found.");
  return found;
}

/** Throws `invalid_request` if the sender creates the secret. */
function generateSigningSecret(signature: SignatureDefinition): string {
  const { title, secretFrom, rule } = senderOf(signature);
  if (secretFrom === "sender") {
    throw rejection([{ path: "/secret", message: `must be the one of ${title}, which creates it` }]);
  }
  const bytes = randomBytes(32);
  return rule.kind === "hmac" && rule.key === "base64"
    ? `whsec_${bytes.toString("base64")}`
    : bytes.toString("hex");
}
