import { secretPatterns } from "@/server/guard/secrets/secret-forms";

type KnownSecret = { value: string; mark: string };

export type Redact = (text: string) => string;

// Shorter secrets would match ordinary text.
const MIN_SECRET_LENGTH = 6;

/** Creates a function that replaces these secrets in every form in which a service may echo them (`secretPatterns`). */
export function createRedactor(secrets: readonly KnownSecret[]): Redact {
  const replacements = secrets
    .filter(({ value }) => value.length >= MIN_SECRET_LENGTH)
    // The longest first: a secret may contain another one.
    .sort((a, b) => b.value.length - a.value.length)
    .map(({ value, mark }) => ({ mark, patterns: secretPatterns(value), joined: marksInRow(mark) }));
  return (text) => {
    let clean = text;
    for (const { mark, patterns, joined } of replacements) {
      for (const pattern of patterns) clean = clean.replace(pattern, () => mark);
      if (patterns.length > 1) clean = clean.replace(joined, () => mark);
    }
    return clean;
  };
}

// Marks of adjacent pieces of one secret, with the rest that base64 leaves between them.
function marksInRow(mark: string): RegExp {
  const escaped = mark.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  return new RegExp(`${escaped}(?:[A-Za-z0-9+/_=-]{0,4}${escaped})+`, "g");
}
