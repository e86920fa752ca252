import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Prisma } from "./generated/client";

/**
 * In the database, a function's name ends in a hash of its text, so that two releases can use one database
 * (docs/decisions/0036-sql-functions.md).
 */

/** A function as it is created. `name` includes the hash. */
export type SqlFunction = { name: string; text: string };

// Functions list columns as `{{steps}}` or `{{steps = EXCLUDED, except id, key}}`.
const COLUMNS: Record<string, string[]> = {
  steps: toColumns(Prisma.StepScalarFieldEnum),
  model_calls: toColumns(Prisma.ModelCallScalarFieldEnum),
};

function toColumns(fields: Record<string, string>): string[] {
  return Object.keys(fields).map((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function listColumns(text: string): string {
  return text.replace(/\{\{(\w+)(.*?)\}\}/g, (_all, table: string, rest: string) => {
    const columns = COLUMNS[table];
    if (columns === undefined) throw new Error(`No columns of ${table} are known (functions.ts).`);
    if (rest === "") return columns.join(", ");
    const [, row, exceptions = ""] = /^ = (\w+), except ([\w, ]+)$/.exec(rest) ?? [];
    if (row === undefined) throw new Error(`"${table}${rest}" is not a list of columns.`);
    const kept = exceptions.split(", ");
    const changed = columns.filter((column) => !kept.includes(column));
    return changed.map((column) => `${column} = ${row}.${column}`).join(", ");
  });
}

const callsOf = (names: Iterable<string>) => new RegExp(`(?<![\\w.])(${[...names].join("|")})(?=\\()`, "g");

/** Names each function by its text and those of the functions that it calls. Called functions come first. */
export function nameFunctions(files: Record<string, string>): Map<string, SqlFunction> {
  const named = new Map<string, SqlFunction>();
  const calls = callsOf(Object.keys(files));
  const add = (file: string, callers: string[]): SqlFunction => {
    const known = named.get(file);
    if (known !== undefined) return known;
    if (callers.includes(file)) throw new Error(`SQL functions call each other: ${callers.join(", ")}`);
    const body = listColumns(files[file] ?? "").replace(calls, (called) =>
      called === file ? called : add(called, [...callers, file]).name,
    );
    if (!body.includes(`CREATE FUNCTION ${file}(`)) throw new Error(`${file}.sql does not create ${file}`);
    const name = `${file}_${createHash("sha256").update(body).digest("hex").slice(0, 8)}`;
    const created = { name, text: body.replace(callsOf([file]), name) };
    named.set(file, created);
    return created;
  };
  for (const file of Object.keys(files).sort()) add(file, []);
  return named;
}

// A build has these from its sources (scripts/build.mjs).
declare const SQL_FUNCTIONS: Record<string, string> | undefined;

function readFiles(): Record<string, string> {
  if (typeof SQL_FUNCTIONS !== "undefined") return SQL_FUNCTIONS;
  const folder = join(/* turbopackIgnore: true */ process.cwd(), "prisma/functions");
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -".sql".length), readFileSync(join(folder, name), "utf8")]),
  );
}

declare global {
  var stepwellSqlFunctions: Map<string, SqlFunction> | undefined;
}

// Pages use the functions that their process created, also if the files have changed since.
globalThis.stepwellSqlFunctions ??= nameFunctions(readFiles());
const FUNCTIONS = globalThis.stepwellSqlFunctions;
const CALLS = callsOf(FUNCTIONS.keys());

/** The functions of this release, called ones first. */
export const sqlFunctions = (): SqlFunction[] => [...FUNCTIONS.values()];

/** A statement that calls this release's functions by their names in the database. */
export function withFunctionNames(text: string): string {
  return text.replace(CALLS, (file) => FUNCTIONS.get(file)?.name ?? file);
}
