/** One form in which a secret may appear: a pattern that matches it, and the length of what it matches. */
export type SecretForm = { source: string; length: number };

/** Shorter pieces of base64 occur in ordinary text. */
const MIN_BASE64_LENGTH = 8;

/**
 * The forms in which an echoed secret is recognised: as it is, escaped in JSON, URL-encoded (only what must be, or every
 * byte), in hexadecimal, and in base64 or base64url, also within a longer encoded text such as that of `Basic` credentials.
 */
export function formsOf(secret: string): SecretForm[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const texts = new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams({ "": secret }).toString().slice(1),
    ...base64Forms(bytes),
  ]);
  return [
    ...[...texts].map((text) => ({ source: inAnyEscapeCase(text), length: text.length })),
    { source: inAnyCase(hex), length: hex.length },
    { source: inAnyCase(hex.replace(/../g, "%$&")), length: hex.length * 1.5 },
  ];
}

const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
const inAnyCase = (hex: string) => hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
/** The pattern of a text whose percent escapes may be written in capitals or not. */
const inAnyEscapeCase = (text: string) =>
  escapePattern(text).replace(/%[0-9A-F]{2}/g, (escaped) => inAnyCase(escaped.toLowerCase()));

/**
 * What stands in the base64 of any text that holds these bytes, whichever of the three places in a group they begin at.
 * The characters that also hold bits of their neighbours are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bits = 8 * (offset + bytes.length);
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const own = text.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
    if (own.length < MIN_BASE64_LENGTH) return [];
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
