import type { Actor, MemberActor, MemberRole, OperatorActor } from "@/server/auth/actor";
import { roleCovers } from "@/server/auth/sessions";
import type { AuditSubject } from "@/server/contract/enums";
import type { Transaction } from "@/server/db/client";
import { AppError } from "@/server/errors";
import { changedFields, type Facts, recordAudit } from "@/server/operate/audit";
import type { Services } from "@/server/services";
import { refusal } from "./issues";
import type { DeclaredSlugs } from "./resolve-slugs";

/** The services that catalog verbs need. */
export type CatalogServices = Pick<Services, "db" | "clock" | "encryption" | "notifications">;

export type Editor = MemberActor | OperatorActor;

/** In milliseconds: a change may have to wait for a large `apply`. */
const TIMEOUTS = { timeout: 30_000, maxWait: 10_000 };

/** The result of saving. `restored`: a deleted item is back under its slug. */
export type Saved = "created" | "updated" | "restored" | "unchanged";

/** A change in progress: one transaction, one time, one organization. `declared`: what else the same file saves. */
export type Change = {
  tx: Transaction;
  actor: Editor;
  encryption: Services["encryption"];
  at: Date;
  declared?: DeclaredSlugs;
};

/** What the caller of a saving verb expects. */
export type Expectation = {
  /** `create`: the slug must be free; `update`: it must exist. */
  only?: "create" | "update" | undefined;
  /** The id of what was edited: saving fails if its slug now names something else. */
  id?: string | undefined;
  /** The version that was edited: saving fails if it is no longer the current one. */
  version?: number | undefined;
};

/** `note`: why the new version is saved. It is dropped if no version is created. */
export type SaveOptions = Expectation & { note?: string | undefined };

/**
 * Runs `work` in one transaction, with no other change of this organization's catalog. The lock is advisory, so runs do
 * not wait for it. `role`: the role that a member needs. `locks`: further locks to take. Throws `forbidden`.
 */
export async function changeCatalog<T>(
  services: CatalogServices,
  { actor, role, locks = [] }: { actor: Editor; role: MemberRole; locks?: readonly string[] },
  work: (change: Change) => Promise<T>,
): Promise<T> {
  requireRole(actor, role);
  const result = await services.db.$transaction(async (tx) => {
    await lockCatalog(tx, [organizationLock(actor.orgId), ...locks]);
    return work({ tx, actor, encryption: services.encryption, at: services.clock.now() });
  }, TIMEOUTS);
  // The next start in this process uses what was saved.
  services.notifications.tell("configuration", actor.orgId);
  return result;
}

/** Throws `forbidden` unless the actor is the operator or a member with at least the role `needed`. */
export function requireRole(actor: Actor, needed: MemberRole): asserts actor is Editor {
  if (actor.kind === "operator") return;
  if (actor.kind === "member" && roleCovers(actor.role, needed)) return;
  throw new AppError("forbidden", `This needs the role ${needed}.`);
}

/** Names of locks. To avoid deadlocks take people first, then slugs, then organizations, each sorted. */
export const personLock = (email: string) => `1:person:${email}`;
export const slugLock = (slug: string) => `2:slug:${slug}`;
export const organizationLock = (id: string) => `3:organization:${id}`;

/** Takes advisory locks until the end of the transaction, always in the same order. */
export async function lockCatalog(tx: Transaction, names: readonly string[]): Promise<void> {
  for (const name of [...new Set(names)].sort()) {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`stepwell.catalog:${name}`}, 0))`;
  }
}

/** Writes the audit entry of a save unless nothing changed. */
export async function auditSave(
  change: Change,
  {
    saved,
    subject,
    before,
    after,
  }: {
    saved: Saved;
    subject: { kind: AuditSubject; id: string; name: string };
    before: Facts | null;
    after: Facts;
  },
): Promise<void> {
  if (saved === "unchanged") return;
  await recordAudit(change, { verb: saved, subject, changes: changedFields(before, after) });
}

/** What saving does to a row that is `found` or missing, and which fields change. */
export function compareSaved(
  found: { deletedAt: Date | null } | null,
  before: Facts | null,
  after: Facts,
): { saved: Saved; changed: Set<string> } {
  const changed = new Set(Object.keys(changedFields(before, after)));
  if (!found) return { saved: "created", changed };
  if (found.deletedAt !== null) return { saved: "restored", changed };
  return { saved: changed.size > 0 ? "updated" : "unchanged", changed };
}

/** Throws `invalid_request` if the stored item is not what the caller expects. */
export function checkExpectation(
  kind: AuditSubject,
  {
    slug,
    found,
    expected,
  }: {
    slug: string;
    found: { id?: string; deletedAt: Date | null; version?: number } | null;
    expected: Expectation;
  },
): void {
  const present = found !== null && found.deletedAt === null;
  const called = KIND_NAMES[kind];
  if (expected.id !== undefined && found?.id !== expected.id) {
    throw refusal([
      { path: "/slug", message: `cannot be changed: "${slug}" is not the slug of this ${called.name}` },
    ]);
  }
  if (expected.only === "create" && present) {
    throw refusal([{ path: "/slug", message: `is taken: ${called.one} "${slug}" exists` }]);
  }
  if (expected.only === "update" && !present) {
    throw new AppError("not_found", `There is no ${called.name} "${slug}".`);
  }
  if (expected.version !== undefined && present && found.version !== expected.version) {
    throw refusal([
      {
        path: "",
        message: `Version ${found.version} of this ${called.name} was saved since you opened version ${expected.version}; nothing was overwritten`,
      },
    ]);
  }
}

const KIND_NAMES: Record<AuditSubject, { name: string; one: string }> = {
  organization: { name: "organization", one: "an organization" },
  member: { name: "member", one: "a member" },
  invitation: { name: "invitation", one: "an invitation" },
  api_key: { name: "API key", one: "an API key" },
  agent: { name: "agent", one: "an agent" },
  tool: { name: "tool", one: "a tool" },
  secret: { name: "secret", one: "a secret" },
  model_provider: { name: "model provider", one: "a model provider" },
  trigger: { name: "trigger", one: "a trigger" },
};
