import type { TriggerActor } from "@/server/auth/actor";
import type { RunKind } from "@/server/contract/enums";

/** A trigger as webhook calls need it. */
export type Trigger = {
  actor: TriggerActor;
  target: { kind: RunKind; id: string };
  /** Why the trigger cannot start anything, for the sender; null if it can. */
  misconfigured: string | null;
  suspended: boolean;
  scheme: "hex" | "standard_webhooks";
  /**
   * Live secrets, newest first; empty: calls are not signed. Null: they cannot be read, so that no call can be
   * verified.
   */
  secrets: { value: string; expiresAt: Date | null }[] | null;
  rateLimit: { requests: number; seconds: number };
  messageTemplate: string | null;
};
