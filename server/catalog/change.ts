import { z } from "zod";
import {
  type Actor,
  type ApiKeyActor,
  type MemberActor,
  type MemberRole,
  type OperatorActor,
  type OrgId,
  roleCovers,
} from "@/server/base/actor";
import { type AuditRecord, changedFields, type Facts, recordAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { defineQuery, queryThrough } from "@/server/base/db/statement";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { parseInput, rejection } from "@/server/base/issues";
import type { JsonObject } from "@/server/base/json/json";
import type { Services } from "@/server/catalog/services";
import type { RunKind } from "@/server/contract/enums";
import { mayUse, targetIdsOf } from "./key-targets";
import type { DeclaredSlugs } from "./resolve-slugs";

export type CatalogServices = Pick<Services, "db" | "clock" | "encryption" | "notifications">;

export type Editor = MemberActor | OperatorActor;

/** Those who may change definitions. A key changes nothing else. */
export type Author = Editor | ApiKeyActor;

/** The result of saving. `restored`: a deleted item is back under its slug. */
export type Saved = "created" | "updated" | "restored" | "unchanged";

/**
 * A change in progress: one transaction, one time, one organization. `declared`: what else the same file saves.
 * `accountWrites` are executed before the commit. `onSaved` gets the changes of each saved item.
 */
export type Change<Who extends Author = Editor> = {
  tx: Transaction;
  actor: Who;
  encryption: Services["encryption"];
  at: Date;
  declared?: DeclaredSlugs;
  accountWrites: AccountWrite[];
  onSaved?: (id: string | null, changes: JsonObject) => void;
};

/**
 * A write to an organization's row. Runs of all organizations wait for who locks one, so these come last in a
 * transaction (`writeAccounts`).
 */
export type AccountWrite = { orgId: OrgId; write: () => Promise<unknown> };

export type Expectation = {
  /** `create`: the slug must be free; `update`: it must exist. */
  only?: "create" | "update" | undefined;
  /** The id of the edited item: saving fails if its slug now names something else. */
  id?: string | undefined;
  /** The edited version: saving fails if it is no longer current. */
  version?: number | undefined;
  /** The facts that the form was opened with: saving fails if others are stored. */
  replaces?: Facts | undefined;
};

/** `note`: why the new version is saved. It is dropped if no version is created. */
export type SaveOptions = Expectation & { note?: string | undefined };

/** For forms, which may be older than what is stored. */
export const REPLACES = { replaces: z.record(z.string(), z.unknown()) };

/** A status changes beside open forms, so it is no conflict: a form that did not change it keeps the stored one. */
export function statusToSave<Status>(
  wanted: Status,
  { stored, opened }: { stored: Status | undefined; opened: unknown },
): Status {
  return stored !== undefined && wanted === opened ? stored : wanted;
}

type Rules<Schema extends z.ZodType> = {
  role: MemberRole;
  input: Schema;
  locks?: (input: z.output<Schema>) => string[];
};

/**
 * Creates a verb of the catalog, which is also a procedure of the dashboard. It works within one change. Every verb
 * throws `forbidden`, and `invalid_request` with each issue.
 */
export function catalogVerb<Schema extends z.ZodType, Result, Who extends Editor = Editor>(
  { role, input: schema, locks }: Rules<Schema>,
  work: (change: Change<Who>, input: z.output<Schema>) => Promise<Result>,
) {
  const run = async (services: CatalogServices, actor: Who, input: unknown): Promise<Result> => {
    const parsed = parseInput(schema, input);
    const needs = { actor, role, locks: locks?.(parsed) ?? [] };
    return changeCatalog(services, needs, (change) => work(change, parsed));
  };
  const verb: (services: CatalogServices, actor: Who, input: z.input<Schema>) => Promise<Result> = run;
  return Object.assign(verb, { role, input: schema, run });
}

/** Creates a verb that saves a definition, for members. It throws also `not_found` if the item was expected to exist. */
export function savingVerb<Schema extends z.ZodType, Result>(
  schema: Schema,
  put: (change: Change, definition: z.output<Schema>, options: SaveOptions) => Promise<Result>,
) {
  return async (
    services: CatalogServices,
    actor: Editor,
    { definition, ...options }: { definition: z.input<Schema> } & SaveOptions,
  ): Promise<Result> => {
    const parsed = parseInput(schema, definition);
    return changeCatalog(services, { actor, role: "member" }, (change) => put(change, parsed, options));
  };
}

/**
 * Runs `work` in one transaction that excludes other changes of the organization's catalog. The lock is advisory,
 * so runs do not wait for it. Throws `forbidden`.
 */
export async function changeCatalog<Result, Who extends Author>(
  services: CatalogServices,
  { actor, role, locks = [] }: { actor: Who; role: MemberRole; locks?: readonly string[] },
  work: (change: Change<Who>) => Promise<Result>,
): Promise<Result> {
  if (actor.kind === "api_key") requireWriter(actor);
  else requireRole(actor, role);
  const result = await transactPrisma(services.db, "catalog", async (tx) => {
    await lockCatalog(tx, [organizationLock(actor.orgId), ...locks]);
    if (actor.kind === "member") await requireSameRole(tx, actor);
    if (actor.kind === "api_key") await requireSameKey(tx, actor, services.clock.now());
    const accountWrites: AccountWrite[] = [];
    const at = services.clock.now();
    const done = await work({ tx, actor, encryption: services.encryption, at, accountWrites });
    await writeAccounts(accountWrites);
    return done;
  });
  // The next start in this process uses what was saved.
  services.notifications.deliverLocally("configuration", actor.orgId);
  return result;
}

// The role was read with the session. An earlier change may have taken it while this one waited for the lock.
async function requireSameRole(tx: Transaction, actor: MemberActor): Promise<void> {
  const { orgId: organizationId, userId } = actor;
  const member = await tx.member.findUnique({
    where: { organizationId_userId: { organizationId, userId } },
    select: { role: true },
  });
  if (member !== null && roleCovers(member.role, actor.role)) return;
  throw new AppError("forbidden", "Your role in this organization has changed. Reload the page.");
}

// The key was read before this change waited for the lock.
async function requireSameKey(tx: Transaction, actor: ApiKeyActor, now: Date): Promise<void> {
  const { apiKeyId, orgId, name } = actor;
  const key = await tx.apiKey.findFirst({
    where: { id: apiKeyId, organizationId: orgId },
    select: { scopes: true, targetIds: true, expiresAt: true, revokedAt: true },
  });
  if (key === null || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) {
    throw new AppError("unauthenticated", `The API key ${name} is no longer valid.`);
  }
  const targets = targetIdsOf(actor);
  const keepsTargets = targetIdsOf(key) === null || targets?.every((id) => mayUse(key, id));
  if (keepsTargets && actor.scopes.every((scope) => key.scopes.includes(scope))) return;
  throw new AppError("forbidden", `The API key ${name} was limited during the call. Repeat the call.`);
}

/** Locks rows of organizations in the order in which `flush_writes` does. */
export async function writeAccounts(writes: readonly AccountWrite[]): Promise<void> {
  const inOrder = writes.toSorted((one, two) => (one.orgId < two.orgId ? -1 : one.orgId > two.orgId ? 1 : 0));
  for (const { write } of inOrder) await write();
}

function requireWriter({ name, scopes }: ApiKeyActor): void {
  if (scopes.includes("definitions:write")) return;
  throw new AppError("forbidden", `The API key ${name} lacks the scope definitions:write.`);
}

/** Throws `forbidden` unless the actor is the operator or a member with at least the role `needed`. */
export function requireRole(actor: Actor, needed: MemberRole): void {
  if (actor.kind === "operator") return;
  if (actor.kind === "member" && roleCovers(actor.role, needed)) return;
  throw new AppError("forbidden", `This needs the role ${needed}.`);
}

/** Names of locks. To avoid deadlocks take the set-up first, then people, slugs and organizations, each sorted. */
export const setUpLock = "0:set-up";
export const personLock = (email: string) => `1:person:${email}`;
export const slugLock = (slug: string) => `2:slug:${slug}`;
export const organizationLock = (id: string) => `3:organization:${id}`;

const LOCK = defineQuery(
  "lock-catalog",
  z.object({}),
  // Prisma reads no columns of type void.
  "SELECT pg_advisory_xact_lock(hashtextextended('stepwell.catalog:' || $1::text, 0))::text",
);

/** Takes advisory locks until the end of the transaction, always in the same order. */
export async function lockCatalog(tx: Transaction, names: readonly string[]): Promise<void> {
  for (const name of [...new Set(names)].sort()) {
    await LOCK(queryThrough(tx), [name]);
  }
}

/** `before`: null if it is new. `restores`: it was deleted. `replaces` may lack facts that its form does not show. */
type Compared = {
  subject: AuditRecord["subject"];
  before: Facts | null;
  after: Facts;
  restores?: boolean;
  replaces?: Facts | undefined;
};

/**
 * Writes an item and its audit entry unless nothing changed. `write` gets the names of the changed fields. Throws
 * `conflict` if other facts are stored than the form was opened with.
 */
export async function saveItem(
  change: Change<Author>,
  { subject, before, after, restores = false, replaces }: Compared,
  write: (changed: Set<string>) => Promise<unknown>,
): Promise<Saved> {
  const changes = changedFields(before, after);
  const changed = new Set(Object.keys(changes));
  if (before !== null && !restores && changed.size === 0) return "unchanged";
  if (before !== null && replaces !== undefined) checkReplaced(subject.kind, before, replaces);
  const saved = before === null ? "created" : restores ? "restored" : "updated";
  await write(changed);
  await recordAudit(change, { verb: saved, subject, changes });
  change.onSaved?.(subject.id, changes);
  return saved;
}

const STATUS_FACTS: ReadonlySet<string> = new Set(["status", "paused"]);

function checkReplaced(kind: AuditRecord["subject"]["kind"], before: Facts, replaces: Facts): void {
  const differing = Object.keys(changedFields(before, { ...before, ...replaces }));
  if (differing.every((fact) => STATUS_FACTS.has(fact))) return;
  const message = `Somebody changed this ${kind.replace("_", " ")} since you opened it; nothing was overwritten.`;
  // The editors of agents and tools show the difference, and offer what to do.
  const isEditor = kind === "agent" || kind === "tool";
  throw new AppError(
    "conflict",
    isEditor ? message : `${message} Copy what you want to keep, then open the form again.`,
  );
}

/** Throws `invalid_request` or `not_found` if the stored item is not what the caller expects. */
export function checkExpectation(
  kind: RunKind | "trigger" | "schedule" | "secret" | "callback",
  found: { id: string; deletedAt?: Date | null; version?: number } | null,
  { slug, only, id, version }: Expectation & { slug: string },
): void {
  const present = found !== null && !found.deletedAt;
  if (id !== undefined && found?.id !== id) {
    throw rejection([
      { path: "/slug", message: `cannot be changed: "${slug}" is not the slug of this ${kind}` },
    ]);
  }
  if (only === "create" && present) {
    const path = kind === "secret" ? "/name" : "/slug";
    const article = kind === "agent" ? "an" : "a";
    throw rejection([{ path, message: `is taken: ${article} ${kind} "${slug}" exists` }]);
  }
  if (only === "update" && !present) throw new AppError("not_found", `There is no ${kind} "${slug}".`);
  if (version !== undefined && present && found.version !== version) {
    const message = `Version ${found.version} of this ${kind} was saved since you opened version ${version}; nothing was overwritten`;
    throw rejection([{ path: "", message }]);
  }
}
