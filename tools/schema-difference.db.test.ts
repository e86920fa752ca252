import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@/testing/database";
import { findSchemaDifference, readSchemaRules } from "./schema-difference";

const SCHEMA = "prisma/schema.prisma";
let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

it("finds none: the migrations make what schema.prisma describes", async () => {
  expect(await findSchemaDifference(database.url, SCHEMA)).toBe("");
});

const HEADER = `-- What the migrations make and schema.prisma cannot express, as PostgreSQL prints it. Generated: after a migration, run
-- npx vitest run tools/schema-difference.db.test.ts -u
`;

it("finds the rules of prisma/rules.sql in the database, and no others", async () => {
  const rules = await readSchemaRules(database.url);
  await expect([HEADER, ...rules, ""].join("\n")).toMatchFileSnapshot("../prisma/rules.sql");
});

it("finds a change that is only in schema.prisma", async () => {
  const folder = await mkdtemp(join(tmpdir(), "stepwell-schema-"));
  const changed = join(folder, "schema.prisma");
  const text = await readFile(SCHEMA, "utf8");
  await writeFile(changed, text.replace(/^model Plan \{/m, "model Plan {\n  motto String?"));
  expect(await findSchemaDifference(database.url, changed)).toMatch(
    /^-- AlterTable\nALTER TABLE "plans" ADD COLUMN\s+"motto" TEXT;$/,
  );
  await rm(folder, { recursive: true });
});
