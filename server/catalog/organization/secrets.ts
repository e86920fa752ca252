import { z } from "zod";
import { type Actor, actorReference } from "@/server/base/actor";
import { changedFields, type Facts, recordAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import type { Secret } from "@/server/base/db/generated/client";
import { toPlainData } from "@/server/base/db/plain-data";
import { queryThrough } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { parseInput, rejection } from "@/server/base/issues";
import { readJson } from "@/server/base/json/json";
import { nameActors } from "@/server/base/name-actors";
import type { Services } from "@/server/catalog/services";
import { type SecretHosts, waitingHostsOf } from "@/server/guard/secrets/allowed-hosts";
import { secretValuePurpose } from "@/server/guard/secrets/encryption";
import { findSecretNames } from "@/server/guard/secrets/references";
import { parseModelProviders } from "@/server/runs/find-model-providers";
import { keySecretOf } from "@/server/work/models/own-provider";
import {
  type CatalogServices,
  type Change,
  catalogVerb,
  changeCatalog,
  checkExpectation,
  type Editor,
  type Expectation,
  REPLACES,
  type Saved,
  saveItem,
} from "../change";
import { type SecretDefinition, type SecretInput, secretInput, secretRules } from "../definitions";
import { findTools, type ToolLine, toolLine } from "../tool-rows";

/** A secret without its value, which nothing ever shows. */
export type SecretSummary = Awaited<ReturnType<typeof listSecrets>>[number];
type SavedSecret = {
  name: string;
  saved: Saved;
  isSet: boolean;
  hosts: string[];
  expiresAt: string | null;
  /** Hosts that may not receive the value before it is set again. */
  waitingHosts: string[];
};

const MAX_SECRETS = 200;

export async function listSecrets(services: Pick<Services, "clock" | "db">, actor: Actor) {
  const found = await services.db.secret.findMany({
    where: { organizationId: actor.orgId },
    orderBy: { name: "asc" },
    select: {
      name: true,
      sealed: true,
      allowedHosts: true,
      confirmedHosts: true,
      expiresAt: true,
      createdBy: true,
      createdAt: true,
      updatedAt: true,
      lastUsedAt: true,
    },
  });
  const creators = found.map(({ createdBy }) => createdBy);
  const nameOf = await nameActors(services, actor.orgId, creators);
  const now = services.clock.now();
  return found.map(({ sealed, allowedHosts, confirmedHosts, ...secret }) => ({
    ...toPlainData(secret),
    hosts: allowedHosts,
    waitingHosts: waitingHostsOf({ sealed, allowedHosts, confirmedHosts }),
    state: stateOfSecret({ sealed, ...secret }, now),
    createdBy: nameOf(secret.createdBy),
  }));
}

/** `missing`: the secret is declared, and no value was set yet. */
export function stateOfSecret(
  { sealed, expiresAt }: Pick<Secret, "sealed" | "expiresAt">,
  now: Date,
): "set" | "missing" | "expired" {
  if (sealed === null) return "missing";
  return expiresAt !== null && expiresAt <= now ? "expired" : "set";
}

/**
 * Sets a secret's value for calls from now on, which confirms its hosts. Needs the role admin. Throws
 * `invalid_request`, `forbidden`, `not_found`, and `conflict` if the secret is not what the form `replaces`.
 */
export async function setSecret(
  services: CatalogServices,
  actor: Editor,
  { secret, ...expected }: { secret: SecretInput } & Expectation,
): Promise<SavedSecret> {
  return changeCatalog(services, { actor, role: "admin" }, (change) =>
    setSecretWithin(change, secret, expected),
  );
}

/** Like `setSecret`, within a change that is under way. */
export async function setSecretWithin(
  change: Change,
  input: SecretInput,
  expected: Expectation,
): Promise<SavedSecret> {
  const { tx, actor, encryption, at } = change;
  const { name, value, hosts, expiresAt } = parseInput(secretInput, input);
  const found = await findSecret(change, name);
  checkExpectation("secret", found, { slug: name, ...expected });
  if (found) checkShown(found, expected.replaces);
  const expires = expiresAt ? new Date(expiresAt) : expiresAt === null ? null : expiryAhead(found, at);
  requireFuture(expires, at);
  const allowedHosts = hosts ?? hostsToConfirm(found);
  const sealed = encryption.seal(value, secretValuePurpose(actor.orgId, name));
  // Who knows the value decides where it may be sent.
  const data = { sealed, allowedHosts, confirmedHosts: allowedHosts, expiresAt: expires, updatedAt: at };
  const stored = found ?? (await createSecret(change, name, allowedHosts));
  const { id } = stored;
  await tx.secret.update({ where: { id }, data });
  const saved = found ? "updated" : "created";
  const changes = { ...changedFields(found && factsOf(found), factsOf(data)), value: "set" };
  await recordAudit(change, { verb: saved, subject: { kind: "secret", id, name }, changes });
  return resultOf({ ...stored, ...data }, saved);
}

/** Throws `conflict` if the form showed other facts than are stored. It can show those, and be sent again. */
function checkShown(found: Secret, shown: Expectation["replaces"]): void {
  const stored = factsOf(found);
  if (Object.keys(changedFields(stored, { ...stored, ...shown })).length === 0) return;
  const message = "Somebody changed this secret since you opened it, and the value was not set.";
  throw new AppError("conflict", `${message} Check its hosts and its expiry, then try again.`);
}

/** The stored hosts, if none waits: who sets the value must have seen the hosts that this confirms. */
function hostsToConfirm(found: Secret | null): string[] {
  const reject = (message: string) => rejection([{ path: "/hosts", message }]);
  if (found === null) throw reject("is required: name the hosts that may receive the secret");
  const { allowedHosts } = found;
  const waiting = waitingHostsOf(found);
  if (waiting.length === 0) return allowedHosts;
  throw reject(
    `is required to confirm ${waiting.join(", ")}: name all hosts, as in ${allowedHosts.join(",")}`,
  );
}

function expiryAhead(found: Secret | null, at: Date): Date | null {
  const expiresAt = found?.expiresAt ?? null;
  return expiresAt !== null && expiresAt > at ? expiresAt : null;
}

function requireFuture(expiresAt: Date | null, at: Date): void {
  if (expiresAt !== null && expiresAt <= at)
    throw rejection([{ path: "/expiresAt", message: "is in the past" }]);
}

/**
 * Changes the allowed hosts and the expiry of a secret, and not its value. Added hosts wait until the value is set again.
 * Throws `not_found`, and `conflict` if the secret is not what the form `replaces`.
 */
export const changeSecretRules = catalogVerb(
  { role: "admin", input: secretRules.extend(REPLACES) },
  async (change, { name, hosts, expiresAt, replaces }): Promise<SavedSecret> => {
    const { tx, at } = change;
    const found = await requireSecret(change, name);
    const expires = expiresAt === null ? null : new Date(expiresAt);
    const data = { ...withHosts(found, hosts), expiresAt: expires };
    const changedSecret = { ...found, ...data };
    const subject = { kind: "secret" as const, id: found.id, name };
    const compared = { subject, before: factsOf(found), after: factsOf(changedSecret), replaces };
    const saved = await saveItem(change, compared, (changed) => {
      // An expired secret may get other hosts and stay expired.
      if (changed.has("expiresAt")) requireFuture(expires, at);
      return tx.secret.update({ where: { id: found.id }, data: { ...data, updatedAt: at } });
    });
    return resultOf(changedSecret, saved);
  },
);

/** The tools whose current version refers to a secret, by name. */
export async function listSecretUsers(
  { db }: Pick<Services, "db">,
  actor: Actor,
  { name }: { name: string },
): Promise<ToolLine[]> {
  const found = await findTools(queryThrough(db), actor.orgId, {
    text: `secrets.${name}`,
    fits: (definition) => findSecretNames(readJson(definition)).includes(name),
  });
  return found.map(toolLine);
}

/** Declares a secret and its hosts. A value that is set stays, and added hosts wait until it is set again. */
export async function putSecret(change: Change, { name, hosts }: SecretDefinition): Promise<SavedSecret> {
  const { tx, at } = change;
  const found = await findSecret(change, name);
  const stored = found ?? (await createSecret(change, name, hosts));
  const { id } = stored;
  const subject = { kind: "secret" as const, id, name };
  const data = withHosts(stored, hosts);
  const changedSecret = { ...stored, ...data };
  const compared = { subject, before: found && hostFacts(found), after: hostFacts(changedSecret) };
  const saved = await saveItem(change, compared, async () => {
    if (found) await tx.secret.update({ where: { id }, data: { ...data, updatedAt: at } });
  });
  return resultOf(changedSecret, saved);
}

/**
 * Deletes a secret immediately; steps that refer to it fail. Throws `not_found`, and `invalid_request` while it is
 * the key of a model provider.
 */
export const removeSecret = catalogVerb(
  { role: "admin", input: z.object({ name: z.string().max(64) }) },
  async (change, { name }) => {
    const { tx, actor } = change;
    const { id } = await requireSecret(change, name);
    const where = { id: actor.orgId };
    const { modelProviders } = await tx.organization.findUniqueOrThrow({ where });
    const user = parseModelProviders(modelProviders).find((provider) => keySecretOf(provider) === name);
    if (user !== undefined) {
      const message = `The model provider "${user.name}" uses the secret "${name}". Change or remove the provider first.`;
      throw new AppError("invalid_request", message);
    }
    await tx.secret.delete({ where: { id } });
    await recordAudit(change, { verb: "removed", subject: { kind: "secret", id, name } });
  },
);

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

async function requireSecret(change: Change, name: string): Promise<Secret> {
  const found = await findSecret(change, name);
  if (!found) throw new AppError("not_found", `There is no secret "${name}".`);
  return found;
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

function resultOf(secret: Secret, saved: Saved): SavedSecret {
  const { name, sealed, allowedHosts: hosts } = secret;
  const expiresAt = secret.expiresAt?.toISOString() ?? null;
  return { name, saved, isSet: sealed !== null, hosts, waitingHosts: waitingHostsOf(secret), expiresAt };
}

function withHosts({ confirmedHosts }: Pick<Secret, "confirmedHosts">, allowedHosts: string[]) {
  return { allowedHosts, confirmedHosts: confirmedHosts.filter((host) => allowedHosts.includes(host)) };
}

function hostFacts(secret: SecretHosts): Facts {
  return { hosts: secret.allowedHosts, waitingHosts: waitingHostsOf(secret) };
}

function factsOf(secret: SecretHosts & Pick<Secret, "expiresAt">): Facts {
  return { ...hostFacts(secret), expiresAt: secret.expiresAt?.toISOString() ?? null };
}
