import type { Decimal } from "@/server/base/amount";

/**
 * An organization's id that a caller was proven to belong to. Only files that may import mint-org-id.ts create one,
 * so that a query with an unproven id is a type error.
 */
export type OrgId = string & { readonly [orgIdBrand]: true };
declare const orgIdBrand: unique symbol;

export const KEY_SCOPES = [
  "runs:read",
  "runs:start",
  "runs:list",
  "definitions:read",
  "definitions:write",
  "credits:read",
  "deliveries:read",
] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** `may`: what a key with the scope may do, for the keys page, the OpenAPI document and docs/lists.md. */
export const SCOPE_TEXTS: Readonly<Record<KeyScope, { label: string; may: string }>> = {
  "runs:read": { label: "Read runs", may: "Read the input, output, steps and receipt of a run" },
  "runs:start": { label: "Start runs", may: "Start, repeat and cancel runs" },
  "runs:list": { label: "List runs", may: "List and search runs, and read metrics" },
  "definitions:read": {
    label: "Read definitions",
    may: "Read agents, tools, triggers, schedules and callbacks",
  },
  "definitions:write": {
    label: "Change definitions",
    may: "Create, change and archive agents, tools, triggers, schedules and callbacks",
  },
  "credits:read": { label: "Read credits", may: "Read the organization's balance and ledger" },
  "deliveries:read": { label: "Read deliveries", may: "List the calls that triggers received" },
};

/** The scopes of a key that names none. Later scopes are granted by name only. */
export const DEFAULT_KEY_SCOPES: readonly KeyScope[] = ["runs:read", "runs:start"];

/** Each role includes the rights of the earlier ones. */
export const MEMBER_ROLES = ["viewer", "member", "admin", "owner"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

export function roleCovers(role: MemberRole, needed: MemberRole): boolean {
  return MEMBER_ROLES.indexOf(role) >= MEMBER_ROLES.indexOf(needed);
}

/** A limit of null is unlimited. */
type ActorPlan = {
  apiAccess: boolean;
  startsPerMinute: number | null;
  readsPerMinute: number | null;
};

export type ApiKeyActor = {
  kind: "api_key";
  orgId: OrgId;
  apiKeyId: string;
  name: string;
  scopes: readonly string[];
  /** If empty, the key may use all agents and tools. */
  targetIds: readonly string[];
  maxCredits: Decimal | null;
  suspended: boolean;
  plan: ActorPlan;
};

/** A key as read from the database. Whether it may be used is checked with each request. */
export type AuthenticatedKey = {
  actor: ApiKeyActor;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** The time of its last stored use, in ms. */
  lastUsedAt: number;
};

export type MemberActor = {
  kind: "member";
  orgId: OrgId;
  userId: string;
  name: string;
  role: MemberRole;
  /** The session's organization is suspended. */
  suspended?: true;
};

export type TriggerActor = {
  kind: "trigger";
  orgId: OrgId;
  triggerId: string;
  name: string;
  maxCredits: Decimal | null;
};

type ScheduleActor = { kind: "schedule"; orgId: OrgId; scheduleId: string; name: string };

export type OperatorActor = { kind: "operator"; orgId: OrgId; name: string };

export type Actor = ApiKeyActor | MemberActor | TriggerActor | ScheduleActor | OperatorActor;

/** The actor's form in the ledger and the audit log. */
export function actorReference(actor: Actor): string {
  switch (actor.kind) {
    case "api_key":
      return `api_key:${actor.apiKeyId}`;
    case "member":
      return `user:${actor.userId}`;
    case "trigger":
      return `trigger:${actor.triggerId}`;
    case "schedule":
      return `schedule:${actor.scheduleId}`;
    case "operator":
      return "operator";
  }
}

/** The interval at which the last use of an API key or secret is stored. */
export const LAST_USED_EVERY_MS = 60_000;
