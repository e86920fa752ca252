import { createHmac } from "node:crypto";
import { sha256 } from "@/server/base/sha256";

/** The `webhook-id` of an event for an endpoint: the same in all attempts, so that a receiver can skip repetitions. */
export function webhookId(eventId: string, endpointId: string): string {
  return `msg_${sha256(`${eventId}/${endpointId}`).toString("base64url").slice(0, 32)}`;
}

/** The headers of Standard Webhooks 1.0, with one signature for each secret. */
export function signedHeaders(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
