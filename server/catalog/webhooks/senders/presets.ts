import { FORM_TYPE, JSON_TYPE } from "@/server/contract/media-types";

/**
 * The ways of senders to sign and send calls: one row of data for each sender. `signed-call.ts` reads the rules,
 * `call-body.ts` the bodies, `event-id.ts` the ids, `verification.ts` the rest.
 */

export const HASHES = ["sha1", "sha256", "sha512"] as const;
export const ENCODINGS = ["hex", "base64"] as const;

export type HmacRule = {
  kind: "hmac";
  header: string;
  algorithm: (typeof HASHES)[number];
  encoding: (typeof ENCODINGS)[number];
  /** Text before the signature. */
  prefix: string;
  isPrefixOptional?: boolean;
  /**
   * `plain`: the header is the signature. `list`: signatures with the prefix, separated by spaces. `pairs`: Stripe's
   * `t=1700000000,v1=…`.
   */
  layout: "plain" | "list" | "pairs";
  /**
   * Placeholders: `{timestamp}`, `{id}`, `{body}`, `{url}` as called, and `{form}`: the fields of a form, sorted, each
   * name followed by its value.
   */
  signingString: string;
  /** In the header of that name, or with `pairs` in that pair. Unix seconds, or milliseconds of 13 digits. */
  timestamp?: { in: string; toleranceSeconds: number };
  /** The header of `{id}`. */
  idHeader?: string;
  /** `base64`: the secret's base64 after an optional `whsec_`; `text`: its UTF-8. */
  key: "text" | "base64";
  /** The sender may omit the port of `{url}`, or add the default port. */
  isPortOptional?: true;
  /** A call without a form needs this query parameter: the SHA-256 of the body in hexadecimal. */
  bodyHashQuery?: string;
};

type TokenRule = { kind: "token"; header: string };

export type SignatureRule = HmacRule | TokenRule;

/** `json`: a document. `form`: fields as texts, or the document in the field `payload`. */
export type BodyForm = "json" | "form";
export type BodyForms = Readonly<Record<string, BodyForm>>;

export type Sender = {
  title: string;
  rule: SignatureRule;
  /** `sender`: the sender creates the secret, so a generated one would never be used. */
  secretFrom: "anyone" | "sender";
  /**
   * The event's id is the first of these headers, or else of these JSON pointers into the body, or else the header
   * Idempotency-Key or webhook-id.
   */
  eventId: { headers?: readonly string[]; pointers?: readonly string[] };
  /** By media type. */
  bodies: BodyForms;
  /** Answered by echoing a part of the body; nothing starts. Pointers. */
  challenge?: { at: string; equals: string; echo: string };
  /** An unsigned form that checks the address: it has that field, and nothing else but `beside`. */
  formCheck?: { field: string; equals: string; beside: string };
  /** GET or HEAD requests that check the address. `echo`: the query parameter that the answer repeats. */
  verification?: { method: "GET" | "HEAD"; echo?: string };
  /** The answer that this sender expects instead of JSON, by the media type of its call. */
  answers?: Readonly<Record<string, { contentType: string; body: string }>>;
  /** A template or filter that takes longer is rejected. */
  answerWithinMs?: number;
};

const JSON_ONLY = { [JSON_TYPE]: "json" } as const;
const JSON_OR_FORM = { [JSON_TYPE]: "json", [FORM_TYPE]: "form" } as const;

const PLAIN_HMAC = {
  kind: "hmac",
  algorithm: "sha256",
  encoding: "hex",
  prefix: "",
  layout: "plain",
  signingString: "{body}",
  key: "text",
} as const;

const STANDARD_WEBHOOKS = {
  ...PLAIN_HMAC,
  header: "webhook-signature",
  encoding: "base64",
  prefix: "v1,",
  layout: "list",
  signingString: "{id}.{timestamp}.{body}",
  timestamp: { in: "webhook-timestamp", toleranceSeconds: 300 },
  idHeader: "webhook-id",
  key: "base64",
} as const;

export const PRESETS = {
  hex: {
    title: "Stepwell",
    rule: { ...PLAIN_HMAC, header: "x-signature", prefix: "sha256=", isPrefixOptional: true },
    secretFrom: "anyone",
    eventId: {},
    bodies: JSON_ONLY,
  },
  "standard-webhooks": {
    title: "Standard Webhooks",
    rule: STANDARD_WEBHOOKS,
    secretFrom: "anyone",
    eventId: {},
    bodies: JSON_ONLY,
  },
  svix: {
    title: "Svix (Clerk, Resend)",
    rule: {
      ...STANDARD_WEBHOOKS,
      header: "svix-signature",
      timestamp: { in: "svix-timestamp", toleranceSeconds: 300 },
      idHeader: "svix-id",
    },
    secretFrom: "sender",
    eventId: { headers: ["svix-id"] },
    bodies: JSON_ONLY,
  },
  github: {
    title: "GitHub",
    rule: { ...PLAIN_HMAC, header: "x-hub-signature-256", prefix: "sha256=" },
    secretFrom: "anyone",
    eventId: { headers: ["x-github-delivery"] },
    bodies: JSON_OR_FORM,
  },
  stripe: {
    title: "Stripe",
    rule: {
      ...PLAIN_HMAC,
      header: "stripe-signature",
      prefix: "v1=",
      layout: "pairs",
      signingString: "{timestamp}.{body}",
      timestamp: { in: "t", toleranceSeconds: 300 },
    },
    secretFrom: "sender",
    eventId: { pointers: ["/id"] },
    bodies: JSON_ONLY,
  },
  slack: {
    title: "Slack",
    rule: {
      ...PLAIN_HMAC,
      header: "x-slack-signature",
      prefix: "v0=",
      signingString: "v0:{timestamp}:{body}",
      timestamp: { in: "x-slack-request-timestamp", toleranceSeconds: 300 },
    },
    secretFrom: "sender",
    // Slash commands and interactions have a trigger_id of their own.
    eventId: { pointers: ["/event_id", "/trigger_id"] },
    bodies: JSON_OR_FORM,
    challenge: { at: "/type", equals: "url_verification", echo: "/challenge" },
    formCheck: { field: "ssl_check", equals: "1", beside: "token" },
    // The query has ssl_check=1; there is nothing to echo.
    verification: { method: "GET" },
    // Slack shows people the answer to a command.
    answers: { [FORM_TYPE]: { contentType: "text/plain; charset=utf-8", body: "" } },
    answerWithinMs: 2_500,
  },
  shopify: {
    title: "Shopify",
    rule: { ...PLAIN_HMAC, header: "x-shopify-hmac-sha256", encoding: "base64" },
    secretFrom: "sender",
    eventId: { headers: ["x-shopify-webhook-id"] },
    bodies: JSON_ONLY,
    answerWithinMs: 4_500,
  },
  twilio: {
    title: "Twilio",
    rule: {
      ...PLAIN_HMAC,
      header: "x-twilio-signature",
      algorithm: "sha1",
      encoding: "base64",
      signingString: "{url}{form}",
      isPortOptional: true,
      bodyHashQuery: "bodySHA256",
    },
    secretFrom: "sender",
    eventId: { headers: ["i-twilio-idempotency-token"] },
    bodies: JSON_OR_FORM,
    // An instruction to do nothing: Twilio would report JSON as an error.
    answers: { [FORM_TYPE]: { contentType: "text/xml; charset=utf-8", body: "<Response/>" } },
  },
  gitlab: {
    title: "GitLab",
    rule: { kind: "token", header: "x-gitlab-token" },
    secretFrom: "anyone",
    eventId: { headers: ["idempotency-key", "webhook-id", "x-gitlab-webhook-uuid"] },
    bodies: JSON_ONLY,
  },
  telegram: {
    title: "Telegram",
    rule: { kind: "token", header: "x-telegram-bot-api-secret-token" },
    secretFrom: "anyone",
    eventId: { pointers: ["/update_id"] },
    bodies: JSON_ONLY,
  },
  meta: {
    title: "Meta (Facebook, Instagram, WhatsApp)",
    rule: { ...PLAIN_HMAC, header: "x-hub-signature-256", prefix: "sha256=" },
    secretFrom: "sender",
    eventId: {},
    bodies: JSON_ONLY,
    verification: { method: "GET", echo: "hub.challenge" },
  },
  dropbox: {
    title: "Dropbox",
    rule: { ...PLAIN_HMAC, header: "x-dropbox-signature" },
    secretFrom: "sender",
    eventId: {},
    bodies: JSON_ONLY,
    verification: { method: "GET", echo: "challenge" },
  },
  trello: {
    title: "Trello",
    rule: {
      ...PLAIN_HMAC,
      header: "x-trello-webhook",
      algorithm: "sha1",
      encoding: "base64",
      signingString: "{body}{url}",
    },
    secretFrom: "sender",
    eventId: { pointers: ["/action/id"] },
    bodies: JSON_ONLY,
    verification: { method: "HEAD" },
  },
} as const satisfies Record<string, Sender>;

export type PresetName = keyof typeof PRESETS;
