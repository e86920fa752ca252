import { z } from "zod";
import { recordAudit } from "@/server/operate/audit";
import { type CatalogServices, changeCatalog, type Editor } from "./change";
import { triggerDefinition } from "./definitions";
import { parseInput } from "./issues";
import { createSecret, requireTrigger } from "./rotate-trigger";
import { putTrigger, type SavedTrigger } from "./save-trigger";

/** `generateSecret` takes the place of `secret`. */
export const newTrigger = triggerDefinition.safeExtend({ generateSecret: z.boolean() });

/**
 * Creates a trigger whose slug is free. A generated secret is returned this once. Needs the role member. Throws
 * `invalid_request` with issues, and `forbidden`.
 */
export async function createTrigger(
  services: CatalogServices,
  actor: Editor,
  input: z.input<typeof newTrigger>,
): Promise<SavedTrigger & { secret: string | null }> {
  const { generateSecret, ...definition } = parseInput(newTrigger, input);
  const secret = generateSecret ? createSecret(definition.signature) : null;
  const saved = await changeCatalog(services, { actor, role: "member" }, (change) =>
    putTrigger(change, { ...definition, secret: secret ?? definition.secret ?? null }, { only: "create" }),
  );
  return { ...saved, secret };
}

/** Enables or disables a trigger; a disabled one refuses calls. Needs the role member. Throws `not_found`. */
export async function setTriggerStatus(
  services: CatalogServices,
  actor: Editor,
  { id, status }: { id: string; status: "active" | "inactive" },
): Promise<void> {
  await changeCatalog(services, { actor, role: "member" }, async (change) => {
    const { tx, at } = change;
    const found = await requireTrigger(change, id);
    const before = found.disabledAt === null ? "active" : "inactive";
    if (before === status) return;
    const disabledAt = status === "active" ? null : at;
    await tx.trigger.update({ where: { id }, data: { disabledAt, updatedAt: at } });
    await recordAudit(change, {
      verb: "updated",
      subject: { kind: "trigger", id, name: found.name },
      changes: { status: { from: before, to: status } },
    });
  });
}
