type Value = string | Uint8Array | null;
export type SigningValues = Record<"timestamp" | "id" | "body" | "url" | "form", Value>;

/** The parts of a signing string in order; null if a value that it names is. */
export function fillSigningString(text: string, values: SigningValues): (string | Uint8Array)[] | null {
  const filled: (string | Uint8Array)[] = [];
  let at = 0;
  for (const match of text.matchAll(/\{(timestamp|id|body|url|form)\}/g)) {
    const value = valueFor(match[1] ?? "", values);
    if (value === null) return null;
    filled.push(text.slice(at, match.index), value);
    at = match.index + match[0].length;
  }
  return [...filled, text.slice(at)];
}

function valueFor(name: string, values: SigningValues): Value {
  switch (name) {
    case "timestamp":
    case "id":
    case "body":
    case "url":
      return values[name];
    default:
      return values.form;
  }
}
