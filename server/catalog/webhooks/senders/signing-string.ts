type Value = string | Uint8Array | null;
export type SigningValues = Record<"timestamp" | "id" | "body" | "url" | "form", Value>;

/** The parts of a signing string in order; null if a value that it names is. */
export function fillSigningString(text: string, values: SigningValues): (string | Uint8Array)[] | null {
  const known: Record<string, Value> = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`{${name}}`, value]),
  );
  const parts = text
    .split(/(\{(?:timestamp|id|body|url|form)\})/)
    .map((part) => (part in known ? (known[part] ?? null) : part));
  return parts.every((part) => part !== null) ? parts : null;
}
