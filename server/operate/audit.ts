import { type Actor, actorReference, type OrgId } from "@/server/auth/actor";
import type { Transaction } from "@/server/db/client";
import { newId } from "@/server/ids";
import type { Json, JsonObject } from "@/server/json";

/** Longest text kept of a changed value; prompts and definitions have their versions. */
const MAX_TEXT = 500;

export type AuditSubject = "organization" | "member" | "api_key" | "agent" | "tool" | "trigger";

export type AuditRecord = {
  actor: Actor;
  /** `created`, `updated`, `restored`, `revoked`, `removed`, `secret_rotated`, … */
  verb: string;
  subject: { kind: AuditSubject; id: string | null; name: string };
  /** What changed: field → `{ from, to }`, made by `changedFields`. Never a secret. */
  changes: JsonObject;
  at: Date;
};

/** Writes one line of the organization's audit log, in the transaction of the change itself. */
export async function recordAudit(tx: Transaction, orgId: OrgId, record: AuditRecord): Promise<void> {
  await tx.auditEntry.create({
    data: {
      id: newId(),
      organizationId: orgId,
      actor: actorReference(record.actor),
      actorName: record.actor.name,
      action: `${record.subject.kind}.${record.verb}`,
      subjectKind: record.subject.kind,
      subjectId: record.subject.id,
      subjectName: record.subject.name,
      changes: JSON.stringify(record.changes),
      createdAt: record.at,
    },
  });
}

/** A thing as plain data, field by field; what is not JSON (undefined) counts as null. */
export type Facts = Readonly<Record<string, unknown>>;

/**
 * The fields that differ between two descriptions of a thing, as `{ field: { from, to } }`; `before` is null
 * for something new. Equal descriptions give `{}`. Long texts are cut.
 */
export function changedFields(before: Facts | null, after: Facts): JsonObject {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after)]);
  const changes: JsonObject = {};
  for (const field of fields) {
    const from = JSON.stringify(before?.[field] ?? null);
    const to = JSON.stringify(after[field] ?? null);
    if (from !== to) changes[field] = { from: cut(from), to: cut(to) };
  }
  return changes;
}

function cut(json: string): Json {
  const value: Json = JSON.parse(json);
  if (json.length <= MAX_TEXT) return value;
  const text = typeof value === "string" ? value : json;
  return `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`;
}
