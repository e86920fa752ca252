import { randomBytes } from "node:crypto";
import type { TriggerActor } from "@/server/base/actor";
import type { RunKind } from "@/server/contract/enums";
import { webhookPath } from "@/server/contract/webhook";
import type { Sender } from "./senders/presets";

/** A trigger as webhook calls need it. */
export type Trigger = {
  actor: TriggerActor;
  target: { kind: RunKind; id: string };
  /** The reason, for the sender, that the trigger cannot start anything; null if it can. */
  misconfigured: string | null;
  suspended: boolean;
  sender: Sender;
  /** Newest first; empty: calls are not signed. Null: they cannot be read, so no call can be verified. */
  secrets: { value: string; expiresAt: Date | null }[] | null;
  rateLimit: { requests: number; seconds: number };
  messageTemplate: string | null;
  filter: string | null;
};

const TOKEN_BYTES = 24;

/** Generates the token of a trigger's URL: 192 bits in 32 characters that need no escaping. */
export function newTriggerToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The URL that senders call. `appUrl` has no trailing slash. */
export function triggerUrl(appUrl: string, token: string): string {
  return `${appUrl}${webhookPath(token)}`;
}

export function tokenPurpose(triggerId: string): string {
  return `trigger-token:${triggerId}`;
}

export function signingSecretPurpose(triggerId: string): string {
  return `trigger:${triggerId}`;
}
