import { type Actor, actorReference, type MemberActor, type OrgId } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import type { Prisma } from "@/server/base/db/generated/client";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { toPlainData } from "@/server/base/db/plain-data";
import { newId } from "@/server/base/ids";
import { type Json, type JsonObject, readJson, writeJson } from "@/server/base/json/json";
import type { Services } from "@/server/base/services";
import type { AuditSubject } from "@/server/contract/enums";

// Prompts and definitions have their versions instead.
const MAX_TEXT = 500;

export type AuditedChange = { tx: Transaction; actor: Actor; at: Date };

export type AuditRecord = {
  /** `created`, `updated`, `restored`, `revoked`, `removed`, `secret_rotated`, … */
  verb: string;
  subject: { kind: AuditSubject; id: string | null; name: string };
  /** `{ field: { from, to } }`, never a secret. */
  changes?: JsonObject;
};

type InstallationAuditRecord = {
  actorName: string;
  action:
    | "organization.removed"
    | "user.removed"
    | "user.operator_added"
    | "user.operator_removed"
    | "user.password_set"
    | "user.password_reset"
    | "user.password_link_created"
    | "secret.rotated"
    | "secret.adopted";
  subject: { kind: "organization" | "user" | "secret"; id: string | null; name: string };
  changes: JsonObject;
  at: Date;
};

export async function recordAudit(
  { tx, actor, at }: AuditedChange,
  { verb, subject, changes = {} }: AuditRecord,
): Promise<void> {
  const actorName = actor.kind === "api_key" ? `key ${actor.name}` : actor.name;
  const line = { organizationId: actor.orgId, actor: actorReference(actor), actorName };
  const action = `${subject.kind}.${verb}`;
  await tx.auditEntry.create({ data: rowOf({ ...line, action, subject, changes, at }) });
}

/** Records a change that the service made by itself. */
export async function recordSystemAudit(
  tx: Transaction,
  orgId: OrgId,
  { verb, subject, changes = {}, at }: AuditRecord & { at: Date },
): Promise<void> {
  const line = { organizationId: orgId, actor: "system", actorName: "Stepwell" };
  await tx.auditEntry.create({
    data: rowOf({ ...line, action: `${subject.kind}.${verb}`, subject, changes, at }),
  });
}

/**
 * Records that a run used a secret. `id` is derived from both, so that a repetition adds no entry.
 */
export async function recordSecretUse(
  db: Pick<Transaction, "auditEntry">,
  orgId: OrgId,
  use: { id: string; secret: { id: string; name: string }; run: { id: string; name: string }; at: Date },
): Promise<void> {
  const { id, secret, run, at } = use;
  const line = { organizationId: orgId, actor: `run:${run.id}`, actorName: run.name, action: "secret.used" };
  const row = rowOf({ ...line, subject: { kind: "secret", ...secret }, changes: { run: run.id }, at });
  await db.auditEntry.createMany({ data: [{ ...row, id }], skipDuplicates: true });
}

/** Writes an entry to the installation's audit log, in the transaction of the change. */
export async function recordInstallationAudit(
  tx: Transaction,
  record: InstallationAuditRecord,
): Promise<void> {
  const line = { ...record, organizationId: null, actor: "operator" };
  await tx.auditEntry.create({ data: rowOf(line) });
}

type Entry = Pick<InstallationAuditRecord, "actorName" | "changes" | "at"> & {
  organizationId: OrgId | null;
  actor: string;
  action: string;
  subject: { kind: string; id: string | null; name: string };
};

function rowOf({ subject, changes, at, ...line }: Entry) {
  const { kind, id, name } = subject;
  const columns = { subjectKind: kind, subjectId: id, subjectName: name };
  return { ...line, ...columns, id: newId(), changes: writeJson(changes), createdAt: at };
}

/** An object's fields as plain data; undefined counts as null. */
export type Facts = Readonly<Record<string, unknown>>;

/** The fields that differ, as `{ field: { from, to } }`; `before` is null for a new object. Long texts are cut. */
export function changedFields(before: Facts | null, after: Facts): JsonObject {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after)]);
  const changes: JsonObject = {};
  for (const field of fields) {
    const from = writeJson(before?.[field] ?? null);
    const to = writeJson(after[field] ?? null);
    if (from !== to) changes[field] = { from: cut(from), to: cut(to) };
  }
  return changes;
}

function cut(json: string): Json {
  const value: Json = readJson(json);
  if (json.length <= MAX_TEXT) return value;
  const text = typeof value === "string" ? value : json;
  return `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`;
}

export type AuditLine = Awaited<ReturnType<typeof listAudit>>["items"][number];

/**
 * The organization's audit log, newest first, by cursor, of one kind of `subject` if set. `changes` is field → `{
 * from, to }`, or plain facts; without secrets.
 */
export async function listAudit(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { cursor, subject, limit }: PageRequest & { subject?: AuditSubject | undefined },
) {
  const where: Prisma.AuditEntryWhereInput = { organizationId: actor.orgId };
  if (cursor) where.id = { lt: cursor };
  if (subject) where.subjectKind = subject;
  const rows = await db.auditEntry.findMany({
    where,
    orderBy: { id: "desc" },
    take: limit + 1,
    select: {
      id: true,
      actorName: true,
      action: true,
      subjectKind: true,
      subjectId: true,
      subjectName: true,
      changes: true,
      createdAt: true,
    },
  });
  return pageOf(toPlainData(rows), limit, "id");
}
