import type { World } from "./world";

/** A secret in the forms in which services echo it, made without the code that redacts. */
export function echoForms(value: string): Record<string, string> {
  const bytes = Buffer.from(value);
  const behind = (count: number) => Buffer.concat([Buffer.from("user:".slice(0, count)), bytes]);
  return {
    plain: value,
    json: JSON.stringify(value).slice(1, -1),
    jsonTwice: JSON.stringify(JSON.stringify(value)),
    jsonEscaped: escapeUnits(value),
    uri: encodeURIComponent(value),
    uriTwice: encodeURIComponent(encodeURIComponent(value)),
    form: new URLSearchParams([["", value]]).toString().slice(1),
    base64: bytes.toString("base64"),
    base64Unpadded: bytes.toString("base64").replaceAll("=", ""),
    base64Url: bytes.toString("base64url"),
    base64Behind1: behind(1).toString("base64"),
    base64Behind2: behind(2).toString("base64"),
    basic: behind(5).toString("base64"),
    hex: bytes.toString("hex"),
    hexCapitals: bytes.toString("hex").toUpperCase(),
  };
}

function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    const unit = text.charCodeAt(index).toString(16).padStart(4, "0");
    return `\\u${unit}`;
  }).join("");
}

/** Of base64, only the part that does not depend on its neighbors. */
function needlesOf(value: string): string[] {
  return Object.entries(echoForms(value)).map(([form, text]) =>
    form.startsWith("base64") || form === "basic" ? text.slice(8, -4) : text,
  );
}

/** The places of a secret in tables, the log or other texts, each with the secret's form. */
export async function findLeaks(
  world: Pick<World, "pool" | "log">,
  value: string,
  texts: Record<string, string> = {},
): Promise<string[]> {
  const locations = new Map(Object.entries(texts));
  const { rows: tables } = await world.pool.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  for (const { name } of tables) {
    const { rows } = await world.pool.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
    // A row's text doubles quotes and backslashes of its columns.
    const text = rows.map((row) => row.text).join("\n");
    locations.set(`table ${name}`, `${text}\n${text.replaceAll('""', '"').replaceAll("\\\\", "\\")}`);
  }
  const entries = world.log.entries.map((entry) => JSON.stringify(entry, describeErrors));
  locations.set("log", entries.join("\n"));
  return [...locations].flatMap(([location, text]) =>
    needlesOf(value).flatMap((needle) => (text.includes(needle) ? [`${location}: ${needle}`] : [])),
  );
}

function describeErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { message: value.message, stack: value.stack, cause: value.cause };
}
