import { z } from "zod";
import { readJson } from "@/server/base/json/json";
import { FORM_TYPE, JSON_TYPE } from "@/server/contract/media-types";
import { ENCODINGS, HASHES, PRESETS, type PresetName, type Sender } from "./presets";

const PRESET_NAMES = z.enum(Object.keys(PRESETS).filter(isPresetName));

export function isPresetName(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}

// The media types of a custom sender's bodies; `application/*+json` covers types such as CloudEvents'.
const BODY_TYPES = {
  [JSON_TYPE]: "json",
  "application/*+json": "json",
  "text/plain": "json",
  [FORM_TYPE]: "form",
} as const;
const bodyType = z.enum([JSON_TYPE, "application/*+json", "text/plain", FORM_TYPE]);

const headerName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9-]+$/, "must be the name of a header");

const PLACEHOLDERS = ["timestamp", "body", "id", "url"];

const customRule = z
  .strictObject({
    header: headerName,
    algorithm: z.enum(HASHES).default("sha256"),
    encoding: z.enum(ENCODINGS).default("hex"),
    prefix: z.string().max(50).default(""),
    signingString: z.string().min(1).max(500).default("{body}"),
    timestampHeader: headerName.optional(),
    toleranceSeconds: z.int().min(1).max(86_400).default(300),
    eventIdHeader: headerName.optional(),
    contentTypes: z.array(bodyType).min(1).max(4).default([JSON_TYPE]),
  })
  .superRefine((rule, context) => {
    const issue = (path: keyof typeof rule, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    const names = [...rule.signingString.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
    const unknown = names.find((name) => !PLACEHOLDERS.includes(name));
    if (unknown !== undefined)
      issue("signingString", `has no placeholder {${unknown}}; known: {timestamp}, {body}, {id}, {url}`);
    if (!names.includes("body")) issue("signingString", "must contain {body}");
    if (names.includes("timestamp") && rule.timestampHeader === undefined)
      issue("timestampHeader", "is required, because signingString contains {timestamp}");
    if (!names.includes("timestamp") && rule.timestampHeader !== undefined)
      issue("signingString", "must contain {timestamp}: anyone could change a timestamp that is not signed");
    if (names.includes("id") && rule.eventIdHeader === undefined)
      issue("eventIdHeader", "is required, because signingString contains {id}");
  });

/** `signature` of a trigger: a preset's name, or a rule of one's own. */
export const signatureDefinition = z.union([PRESET_NAMES, z.strictObject({ custom: customRule })], {
  error: ({ input }) =>
    typeof input === "string" || input === null || typeof input !== "object"
      ? `must be one of ${PRESET_NAMES.options.map((name) => `"${name}"`).join(", ")}, or custom with its fields`
      : undefined,
});
export type SignatureDefinition = z.output<typeof signatureDefinition>;

export const storedSignature = z.string().transform((text) => signatureDefinition.parse(readJson(text)));

export function senderOf(definition: SignatureDefinition): Sender {
  if (typeof definition === "string") return PRESETS[definition];
  const { custom } = definition;
  const { header, algorithm, encoding, prefix, signingString, timestampHeader, toleranceSeconds } = custom;
  const eventIdHeader = custom.eventIdHeader?.toLowerCase();
  return {
    title: "Custom",
    rule: {
      kind: "hmac",
      header: header.toLowerCase(),
      algorithm,
      encoding,
      prefix,
      layout: "plain",
      signingString,
      key: "text",
      ...(timestampHeader === undefined
        ? {}
        : { timestamp: { in: timestampHeader.toLowerCase(), toleranceSeconds } }),
      ...(eventIdHeader === undefined ? {} : { idHeader: eventIdHeader }),
    },
    secretFrom: "anyone",
    eventId: eventIdHeader === undefined ? {} : { headers: [eventIdHeader] },
    bodies: Object.fromEntries(custom.contentTypes.map((type) => [type, BODY_TYPES[type]])),
  };
}

export function describeSignature(definition: SignatureDefinition): string {
  const { title, rule } = senderOf(definition);
  if (rule.kind === "token") return `${title}: the secret in ${rule.header}`;
  return `${title}: HMAC-${rule.algorithm.toUpperCase().replace("SHA", "SHA-")} in ${rule.encoding} of ${rule.signingString}, in ${rule.header}`;
}
