import { z } from "zod";
import { recordAudit } from "@/server/base/audit";
import { AppError } from "@/server/base/errors";
import { parseInput } from "@/server/base/issues";
import {
  type Author,
  type CatalogServices,
  type Change,
  catalogVerb,
  changeCatalog,
  type Editor,
  type Expectation,
  REPLACES,
} from "@/server/catalog/change";
import type { Services } from "@/server/catalog/services";
import { overlapSeconds, requireFewSecrets } from "@/server/catalog/signing-secrets";
import { DEFINITION_STATUSES } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { type CallbackDefinition, callbackDefinition } from "./callback-definition";
import { newCallbackSecret } from "./callback-secrets";
import { addCallbackSecret, countCallbacksLast, putCallback } from "./save-callback";

// Outputs of runs leave by callbacks, so admins decide about them.
const ROLE = "admin";

type CallbackServices = CatalogServices & Pick<Services, "env">;

function saveCallback(
  services: CallbackServices,
  actor: Editor,
  { definition, ...expected }: { definition: CallbackDefinition } & Expectation,
) {
  const { egressAllow } = services.env;
  return changeCatalog(services, { actor, role: ROLE }, (change) =>
    putCallback(change, definition, { egressAllow, ...expected }),
  );
}

/** Creates a callback whose slug is free. The result has its secret, this once. */
export const createCallback = {
  role: ROLE,
  input: callbackDefinition,
  run: (services: CallbackServices, actor: Editor, input: unknown) =>
    saveCallback(services, actor, { definition: parseInput(callbackDefinition, input), only: "create" }),
} as const;

const changedCallback = callbackDefinition.safeExtend(REPLACES);

/** Changes the callback of that slug. Throws `not_found`, and `conflict` if it is not what it `replaces`. */
export const updateCallback = {
  role: ROLE,
  input: changedCallback,
  run(services: CallbackServices, actor: Editor, input: unknown) {
    const { replaces, ...definition } = parseInput(changedCallback, input);
    return saveCallback(services, actor, { definition, only: "update", replaces });
  },
} as const;

/** Enables or disables a callback. Throws `not_found`. */
export const setCallbackStatus = catalogVerb(
  { role: ROLE, input: z.strictObject({ id: idInput(), status: z.enum(DEFINITION_STATUSES) }) },
  async (change, { id, status }) => {
    const { tx, at } = change;
    const { name, disabledAt } = await requireCallback(change, id);
    const before = disabledAt === null ? "active" : "inactive";
    if (before === status) return;
    await tx.callbackEndpoint.update({
      where: { id },
      data: { disabledAt: status === "active" ? null : at, failingSince: null, updatedAt: at },
    });
    countCallbacksLast(change);
    const changes = { status: { from: before, to: status } };
    await recordAudit(change, { verb: "updated", subject: { kind: "callback", id, name }, changes });
  },
);

/**
 * Creates a secret and returns it, this once. The earlier ones also sign during the overlap, so that a receiver
 * accepts both. Throws `not_found`.
 */
export const rotateCallbackSecret = catalogVerb(
  {
    role: ROLE,
    input: z.strictObject({ id: idInput(), overlapSeconds }),
  },
  async (change, { id, overlapSeconds: seconds }) => {
    const { tx, at } = change;
    const { name } = await requireCallback(change, id, { hasSlug: false });
    const until = new Date(at.getTime() + seconds * 1000);
    const earlier = await tx.callbackSecret.updateMany({
      where: { endpointId: id, OR: [{ expiresAt: null }, { expiresAt: { gt: until } }] },
      data: { expiresAt: until },
    });
    await tx.callbackSecret.deleteMany({ where: { endpointId: id, expiresAt: { lte: at } } });
    requireFewSecrets(await tx.callbackSecret.count({ where: { endpointId: id } }));
    const secret = newCallbackSecret();
    await addCallbackSecret(change, id, secret);
    const changes = { overlapSeconds: seconds };
    await recordAudit(change, { verb: "secret_rotated", subject: { kind: "callback", id, name }, changes });
    return { secret, earlierUntil: earlier.count > 0 && seconds > 0 ? until.toISOString() : null };
  },
);

/** Deletes a callback. What it waits for is not sent. Throws `not_found`. */
export const removeCallback = catalogVerb(
  { role: ROLE, input: z.strictObject({ id: idInput() }) },
  async (change, { id }) => deleteCallback(change, await requireCallback(change, id)),
);

/** `removeCallback` within a change, of a callback that exists. */
export async function deleteCallback(
  change: Change<Author>,
  { id, name, slug }: { id: string; name: string; slug: string | null },
): Promise<void> {
  const { tx, at } = change;
  await tx.callbackEndpoint.update({ where: { id }, data: { deletedAt: at, updatedAt: at } });
  await tx.callbackSecret.deleteMany({ where: { endpointId: id } });
  countCallbacksLast(change);
  await recordAudit(change, { verb: "removed", subject: { kind: "callback", id, name }, changes: { slug } });
}

/** `hasSlug`: not the endpoint of the addresses that runs were started with. */
async function requireCallback({ tx, actor }: Change, id: string, { hasSlug = true } = {}) {
  const found = await tx.callbackEndpoint.findFirst({
    where: { id, organizationId: actor.orgId, deletedAt: null, ...(hasSlug ? { slug: { not: null } } : {}) },
  });
  if (!found) throw new AppError("not_found", "Callback not found.");
  return found;
}
