import type { ApiKeyActor } from "@/server/base/actor";
import { type JsonObject, memberOf } from "@/server/base/json/json";
import { sha256 } from "@/server/base/sha256";
import { cancelRun } from "@/server/runs/cancel";
import { findStartedRun } from "@/server/runs/idempotency";
import type { Services } from "@/server/services";
import { readId } from "./message";

/**
 * The idempotency key of a call, by its key, session and JSON-RPC id. A client that repeats the call gets the same run,
 * and any process finds the run of a call that is cancelled.
 */
export function nameCall({ apiKeyId }: ApiKeyActor, session: string, id: string | number): string {
  return `mcp:${sha256(JSON.stringify([apiKeyId, session, id])).toString("base64url")}`;
}

/** `notifications/cancelled` of the 2025 revisions. Does nothing if the session has no such call. */
export async function cancelNamedCall(
  services: Services,
  actor: ApiKeyActor,
  { session, message }: { session: string; message: JsonObject },
): Promise<void> {
  const id = readId(memberOf(memberOf(message, "params"), "requestId"));
  if (id === null) return;
  const runId = await findStartedRun(services, actor.orgId, nameCall(actor, session, id));
  if (runId !== null) await cancelRun(services, actor.orgId, { runId, by: `the API key ${actor.name}` });
}
