import { isJsonObject, type Json } from "@/server/base/json/json";

/** The form of a secret's name: a JSONata name without quotes. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const REFERENCE = /^\s*secrets\.([A-Za-z_]\w{0,63})\s*$/;
const REFERENCES = /\{\{\s*secrets\.([A-Za-z_]\w{0,63})\s*\}\}/g;

export const secretMark = (name: string) => `[secret ${name}]`;

/** The secret that a whole expression refers to, else null. */
export function parseSecretReference(expression: string): string | null {
  return REFERENCE.exec(expression)?.[1] ?? null;
}

/** The secret that a whole text refers to, as in `{{ secrets.github }}`, else null. */
export function parseWholeReference(text: string): string | null {
  const expression = /^\{\{([^{}]*)\}\}$/.exec(text.trim())?.[1];
  return expression === undefined ? null : parseSecretReference(expression);
}

/** Replaces the references in the texts of any plain data to the secrets of which `replace` returns a text. */
export function replaceReferences(value: Json, replace: (name: string) => string | undefined): Json {
  if (typeof value === "string") {
    return value.replace(REFERENCES, (reference: string, name: string) => replace(name) ?? reference);
  }
  if (Array.isArray(value)) return value.map((member) => replaceReferences(member, replace));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, replaceReferences(member, replace)]),
  );
}

/** The names of all secrets that a definition refers to, in the texts of any plain data. */
export function findSecretNames(definition: unknown): string[] {
  const names = new Set<string>();
  const open: unknown[] = [definition];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") {
      if (!next.includes("secrets.")) continue;
      for (const [, name] of next.matchAll(REFERENCES)) if (name !== undefined) names.add(name);
    } else if (Array.isArray(next) || isJsonObject(next)) {
      for (const member of Object.values(next)) open.push(member);
    }
  }
  return [...names];
}
