import { MAX_BODY_BYTES } from "./sizes";

/**
 * Endpoint 7 (docs/contract.md). Its handler, its addresses, the OpenAPI document and the test of the guides read
 * these facts.
 */
export const WEBHOOK = {
  method: "POST",
  path: "/webhooks/{token}",
  maxBodyBytes: MAX_BODY_BYTES,
  /** Calls of one address to unknown tokens. */
  unknownTokens: { limit: 60, seconds: 60 },
  /** Calls of one address to one token, of any kind; up to `most` if its trigger accepts more. Protects the machine. */
  flood: { limit: 300, most: 6_000, seconds: 60 },
} as const;

const [BEFORE_TOKEN = ""] = WEBHOOK.path.split("{token}");

export const webhookPath = (token: string) => `${BEFORE_TOKEN}${token}`;

/** The token in a path, which may end with a slash; null in any other path. */
export function tokenIn(path: string): string | null {
  if (!path.startsWith(BEFORE_TOKEN)) return null;
  const token = path.slice(BEFORE_TOKEN.length).replace(/\/$/, "");
  return token === "" || token.includes("/") ? null : token;
}

/** Returns true for a path at or below the webhooks' part of the URL space. */
export const isWebhookPath = (path: string) => `${path}/`.startsWith(BEFORE_TOKEN);
