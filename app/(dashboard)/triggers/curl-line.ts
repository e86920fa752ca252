import { quoted } from "@/app/_ui/curl";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { JSON_TYPE } from "@/server/contract/media-types";
import { WEBHOOK } from "@/server/contract/webhook";

/**
 * A shell command that calls the trigger. If calls must be signed, it signs with `SECRET`, which the dashboard never
 * shows (docs/webhooks.md). Null: only the sender signs in the trigger's way.
 */
export function curlLine(trigger: TriggerDetail, url: string): string | null {
  const body = quoted(trigger.exampleBody);
  const post = (...lines: string[]) =>
    [`curl -X ${WEBHOOK.method} ${quoted(url)}`, `-H 'Content-Type: ${JSON_TYPE}'`, ...lines].join(" \\\n  ");
  if (trigger.secrets.length === 0) return post(`--data-raw ${body}`);
  if (trigger.signature === "hex") {
    return [
      `BODY=${body}`,
      post(
        `-H "X-Signature: $(printf '%s' "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)"`,
        '--data-raw "$BODY"',
      ),
    ].join("\n");
  }
  if (trigger.signature !== "standard-webhooks") return null;
  return [
    `BODY=${body} ID="msg_$(openssl rand -hex 8)" AT="$(date +%s)"`,
    `KEY="$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')"`,
    post(
      '-H "webhook-id: $ID" -H "webhook-timestamp: $AT"',
      `-H "webhook-signature: v1,$(printf '%s' "$ID.$AT.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)"`,
      '--data-raw "$BODY"',
    ),
  ].join("\n");
}
