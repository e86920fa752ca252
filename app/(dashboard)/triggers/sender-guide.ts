import { PRESETS } from "@/server/catalog/webhooks/senders/presets";
import type { SignatureDefinition } from "@/server/catalog/webhooks/senders/signature-definition";
import { headingId } from "../docs/guides";

/** The address of the guide's section that says where to click at a sender. */
export function senderGuide(signature: SignatureDefinition): string {
  if (signature === "hex") return "/docs/webhooks#sign-a-call";
  const title = typeof signature === "string" ? PRESETS[signature].title : "Your own rule";
  return `/docs/senders#${headingId(title)}`;
}
