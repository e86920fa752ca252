import { type Actor, actorReference } from "@/server/auth/actor";
import { nameActors } from "@/server/auth/name-actors";
import type { Transaction } from "@/server/db/client";
import type { Secret } from "@/server/db/generated/client";
import { AppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { keySecretOf } from "@/server/models/own-provider";
import { changedFields, type Facts, recordAudit } from "@/server/operate/audit";
import { readModelProviders } from "@/server/runs/find-model-providers";
import { secretValuePurpose } from "@/server/secrets/purpose";
import { findSecretNames } from "@/server/secrets/references";
import type { Services } from "@/server/services";
import {
  auditSave,
  type CatalogServices,
  type Change,
  changeCatalog,
  checkExpectation,
  compareSaved,
  type Editor,
  type Expectation,
  type Saved,
} from "../change";
import {
  type SecretDefinition,
  type SecretInput,
  type SecretRules,
  secretInput,
  secretRules,
} from "../definitions";
import { type FoundTool, findTools } from "../find-tools";
import { parseInput, refusal } from "../issues";

/** A secret without its value, which nothing ever shows. */
export type SecretSummary = {
  name: string;
  hosts: string[];
  /** `missing`: declared, and no value was set yet. */
  state: "set" | "missing" | "expired";
  expiresAt: string | null;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
  lastUsedAt: string | null;
};
export type SavedSecret = { name: string; saved: Saved; isSet: boolean };

const MAX_SECRETS = 200;

/** The organization's secrets by name. */
export async function listSecrets(services: Services, actor: Actor): Promise<SecretSummary[]> {
  const found = await services.db.secret.findMany({
    where: { organizationId: actor.orgId },
    orderBy: { name: "asc" },
  });
  const creators = found.map(({ createdBy }) => createdBy);
  const nameOf = await nameActors(services, actor.orgId, creators);
  const now = services.clock.now();
  return found.map((secret) => ({
    name: secret.name,
    hosts: secret.allowedHosts,
    state: stateOf(secret, now),
    expiresAt: secret.expiresAt?.toISOString() ?? null,
    createdBy: nameOf(secret.createdBy),
    createdAt: secret.createdAt.toISOString(),
    updatedAt: secret.updatedAt.toISOString(),
    lastUsedAt: secret.lastUsedAt?.toISOString() ?? null,
  }));
}

export function stateOf(
  { sealed, expiresAt }: Pick<Secret, "sealed" | "expiresAt">,
  now: Date,
): SecretSummary["state"] {
  if (sealed === null) return "missing";
  return expiresAt !== null && expiresAt <= now ? "expired" : "set";
}

/**
 * Sets a secret's value: runs use it from their next call on. Needs the role admin. Throws `invalid_request`, `forbidden`,
 * and `not_found` where the secret was expected to be there.
 */
export async function setSecret(
  services: CatalogServices,
  actor: Editor,
  { secret: input, ...expected }: { secret: SecretInput } & Expectation,
): Promise<SavedSecret> {
  return changeCatalog(services, { actor, role: "admin" }, (change) =>
    setSecretWithin(change, input, expected),
  );
}

/** The same within a change that is under way. */
export async function setSecretWithin(
  change: Change,
  input: SecretInput,
  expected: Expectation,
): Promise<SavedSecret> {
  const { name, value, hosts, expiresAt } = parseInput(secretInput, input);
  const { tx, actor, at } = change;
  const found = await findSecret(change, name);
  checkSecretExpectation(name, found, expected);
  const expires = expiresAt ? new Date(expiresAt) : null;
  if (expires !== null && expires <= at) throw refusal([{ path: "/expiresAt", message: "is in the past" }]);
  const allowedHosts = hosts ?? found?.allowedHosts;
  if (allowedHosts === undefined) {
    throw refusal([{ path: "/hosts", message: "is required: name the hosts that may receive the secret" }]);
  }
  const sealed = change.encryption.seal(value, secretValuePurpose(actor.orgId, name));
  const data = { sealed, allowedHosts, expiresAt: expires, updatedAt: at };
  const { id } = found ?? (await createSecret(change, name, allowedHosts));
  await tx.secret.update({ where: { id }, data });
  const saved = found ? "updated" : "created";
  await recordAudit(change, {
    verb: saved,
    subject: { kind: "secret", id, name },
    changes: { ...changedFields(found && factsOf(found), factsOf(data)), value: "set" },
  });
  return { name, saved, isSet: true };
}

/**
 * Changes the allowed hosts and the expiry of a secret, and not its value. Needs the role admin. Throws `not_found`,
 * `invalid_request`, `forbidden`.
 */
export async function changeSecretRules(
  services: CatalogServices,
  actor: Editor,
  input: SecretRules,
): Promise<SavedSecret> {
  const { name, hosts, expiresAt } = parseInput(secretRules, input);
  return changeCatalog(services, { actor, role: "admin" }, async (change) => {
    const { tx, at } = change;
    const found = await findSecret(change, name);
    if (!found) throw new AppError("not_found", `There is no secret "${name}".`);
    const expires = expiresAt === null ? null : new Date(expiresAt);
    const data = { allowedHosts: hosts, expiresAt: expires };
    const { saved, changed } = compareSaved({ deletedAt: null }, factsOf(found), factsOf(data));
    // An expired secret may get other hosts and stay expired.
    if (changed.has("expiresAt") && expires !== null && expires <= at) {
      throw refusal([{ path: "/expiresAt", message: "is in the past" }]);
    }
    if (saved !== "unchanged") {
      await tx.secret.update({ where: { id: found.id }, data: { ...data, updatedAt: at } });
    }
    await auditSave(change, {
      saved,
      subject: { kind: "secret", id: found.id, name },
      before: factsOf(found),
      after: factsOf(data),
    });
    return { name, saved, isSet: found.sealed !== null };
  });
}

/** The tools whose current version refers to a secret, by name. */
export async function listSecretUsers(
  services: Services,
  actor: Actor,
  { name }: { name: string },
): Promise<FoundTool[]> {
  return findTools(services, actor.orgId, {
    text: `secrets.${name}`,
    fits: (definition) => findSecretNames(JSON.parse(definition)).includes(name),
  });
}

/** Declares a secret and its hosts, within a change that is under way; a value that is set stays. */
export async function putSecret(change: Change, definition: SecretDefinition): Promise<SavedSecret> {
  const { name, hosts } = definition;
  const found = await findSecret(change, name);
  const after = { hosts };
  const before = found && { hosts: found.allowedHosts };
  const { saved } = compareSaved(found && { deletedAt: null }, before, after);
  const { id } = found ?? (await createSecret(change, name, hosts));
  if (found && saved !== "unchanged") {
    await change.tx.secret.update({ where: { id }, data: { allowedHosts: hosts, updatedAt: change.at } });
  }
  await auditSave(change, { saved, subject: { kind: "secret", id, name }, before, after });
  return { name, saved, isSet: typeof found?.sealed === "string" };
}

/**
 * Deletes a secret with its value immediately; steps that refer to it fail from then on. Needs the role admin. Throws
 * `not_found`, and `invalid_request` while it is the key of a model provider.
 */
export async function removeSecret(
  services: CatalogServices,
  actor: Editor,
  { name }: { name: string },
): Promise<void> {
  await changeCatalog(services, { actor, role: "admin" }, async (change) => {
    const { tx } = change;
    const found = await findSecret(change, name);
    if (!found) throw new AppError("not_found", `There is no secret "${name}".`);
    const { modelProviders } = await tx.organization.findUniqueOrThrow({
      where: { id: actor.orgId },
      select: { modelProviders: true },
    });
    const user = readModelProviders(modelProviders).find((provider) => keySecretOf(provider) === name);
    if (user !== undefined) {
      const message = `The model provider "${user.name}" uses the secret "${name}". Change or remove the provider first.`;
      throw new AppError("invalid_request", message);
    }
    await tx.secret.delete({ where: { id: found.id } });
    await recordAudit(change, { verb: "removed", subject: { kind: "secret", id: found.id, name } });
  });
}

/** The names of the organization's secrets, for checking what definitions refer to. */
export async function listSecretNames({
  tx,
  actor,
}: {
  tx: Pick<Transaction, "secret">;
  actor: Pick<Editor, "orgId">;
}): Promise<string[]> {
  const found = await tx.secret.findMany({
    where: { organizationId: actor.orgId },
    orderBy: { name: "asc" },
    select: { name: true },
  });
  return found.map(({ name }) => name);
}

function findSecret({ tx, actor }: Change, name: string): Promise<Secret | null> {
  return tx.secret.findUnique({ where: { organizationId_name: { organizationId: actor.orgId, name } } });
}

async function createSecret(
  { tx, actor, at }: Change,
  name: string,
  allowedHosts: string[],
): Promise<Secret> {
  if ((await tx.secret.count({ where: { organizationId: actor.orgId } })) >= MAX_SECRETS) {
    throw new AppError("invalid_request", `An organization has at most ${MAX_SECRETS} secrets.`);
  }
  return tx.secret.create({
    data: {
      id: newId(),
      organizationId: actor.orgId,
      name,
      allowedHosts,
      createdBy: actorReference(actor),
      createdAt: at,
      updatedAt: at,
    },
  });
}

function factsOf({ allowedHosts, expiresAt }: Pick<Secret, "allowedHosts" | "expiresAt">): Facts {
  return { hosts: allowedHosts, expiresAt: expiresAt?.toISOString() ?? null };
}

function checkSecretExpectation(name: string, found: Secret | null, { only }: Expectation): void {
  if (only === "create" && found) {
    throw refusal([{ path: "/name", message: `is taken: a secret "${name}" exists` }]);
  }
  if (only === "update")
    checkExpectation("secret", { slug: name, found: found && { deletedAt: null }, expected: { only } });
}
