import { randomBytes } from "node:crypto";

// Letters and digits only, so that JSON, forms and URLs leave it as it is.
const PREFIX = "stepwellsecret";
const PLACEHOLDER = new RegExp(`${PREFIX}[0-9a-f]{32}`, "g");

export function replacePlaceholders(text: string, replace: (placeholder: string) => string): string {
  return text.includes(PREFIX) ? text.replace(PLACEHOLDER, replace) : text;
}

export function hasPlaceholder(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0;
}

/**
 * Placeholders for secrets while one run executes. They are random, so no data can contain one: only a reference in
 * the run's definition creates it. Rows hold `{{ secrets.NAME }}` instead.
 */
export class SecretPlaceholders {
  readonly #byName = new Map<string, string>();
  readonly #names = new Map<string, string>();

  of(name: string): string {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const placeholder = PREFIX + randomBytes(16).toString("hex");
    this.#byName.set(name, placeholder);
    this.#names.set(placeholder, name);
    return placeholder;
  }

  namesIn(text: string): string[] {
    const names = new Set<string>();
    replacePlaceholders(text, (placeholder) => {
      const name = this.#names.get(placeholder);
      if (name !== undefined) names.add(name);
      return placeholder;
    });
    return [...names];
  }

  describe(text: string): string {
    return replacePlaceholders(text, (placeholder) => {
      const name = this.#names.get(placeholder);
      return name === undefined ? placeholder : `{{ secrets.${name} }}`;
    });
  }
}
