import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/**
 * During an update, processes of the previous release work on the migrated database. So a migration only adds; what no
 * release uses any more is removed by a later one, whose statement begins with a comment `-- contract: ` and the reason.
 */

const MIGRATIONS = join(import.meta.dirname, "migrations");
/** Those before it are of the first release. */
const FIRST = "20261126173500_forks";

/** Applied without the comment. Its constraint is about an event that earlier processes do not know. */
const UNMARKED = ["20261126180500_callback_events_of_organizations"];

const BREAKS: [what: string, pattern: RegExp][] = [
  ["removes what a process may use", /\bDROP\s+(TABLE|COLUMN|TYPE|VIEW|FUNCTION|ATTRIBUTE|DEFAULT)\b/i],
  ["renames what a process may use", /\bRENAME\b/i],
  ["changes the type of a column", /\bALTER\s+(COLUMN|ATTRIBUTE)\s+\S+\s+(SET\s+DATA\s+)?TYPE\b/i],
  ["rejects rows that lack a value", /\bSET\s+NOT\s+NULL\b/i],
  ["rejects rows that lack the new column", /\bADD\s+COLUMN\b(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT\s+NULL\b/i],
  ["rejects rows of earlier processes", /\bADD\s+CONSTRAINT\b(?![^;]*\bFOREIGN\s+KEY\b)/i],
  ["replaces a function that a process may call", /\bCREATE\s+OR\s+REPLACE\b/i],
];

/** The names of what a migration breaks, without the statements that are marked. */
function findBreaks(sql: string): string[] {
  return sql.split(";").flatMap((statement) => {
    if (/^--\s*contract: \S/m.test(statement)) return [];
    const text = statement.replace(/--.*$/gm, "");
    // A new table has no earlier rows.
    if (/^\s*CREATE\s+TABLE\b/i.test(text)) return [];
    return BREAKS.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
  });
}

const migrations = readdirSync(MIGRATIONS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name >= FIRST && !UNMARKED.includes(entry.name))
  .map(({ name }) => name);

it.each(migrations)("%s lets processes of the previous release work", (name) => {
  expect(findBreaks(readFileSync(join(MIGRATIONS, name, "migration.sql"), "utf8"))).toEqual([]);
});

it.each([
  ["ALTER TABLE runs DROP COLUMN output;", "removes"],
  ["DROP TABLE sessions;", "removes"],
  ["ALTER TABLE runs RENAME COLUMN a TO b;", "renames"],
  ["ALTER TABLE runs ALTER COLUMN output TYPE bytea;", "changes"],
  ["ALTER TABLE runs ALTER COLUMN output SET NOT NULL;", "rejects rows that lack a value"],
  ["ALTER TABLE runs ADD COLUMN a int, ADD COLUMN b text NOT NULL;", "rejects rows that lack the new column"],
  ["ALTER TABLE runs ADD CONSTRAINT c CHECK (a > 0);", "rejects rows of earlier processes"],
  ["CREATE OR REPLACE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql;", "replaces"],
])("finds %s", (sql, what) => {
  expect(findBreaks(sql)).toEqual([expect.stringContaining(what)]);
  expect(findBreaks(`-- contract: not used since 0.1\n${sql}`)).toEqual([]);
});

it.each([
  "ALTER TABLE runs ADD COLUMN a int NOT NULL DEFAULT 0, ADD COLUMN b text;",
  "CREATE TABLE t (a int NOT NULL, CONSTRAINT t_pkey PRIMARY KEY (a));",
  "-- Nobody may DROP TABLE runs.\nCREATE INDEX i ON runs (a);",
])("allows %s", (sql) => {
  expect(findBreaks(sql)).toEqual([]);
});
