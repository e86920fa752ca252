import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import * as glue from "@prisma/schema-engine-wasm/schema_engine_bg";
import pg from "pg";

/**
 * What Prisma cannot express, and its engine would drop or fail on: checks, partial indexes, indexes on expressions,
 * generated columns.
 */
const DROP_UNSPEAKABLE = `
  DO $$ DECLARE statement text; BEGIN
    FOR statement IN
      SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
      FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0 AND connamespace = 'public'::regnamespace
      UNION ALL
      SELECT format('DROP INDEX %s', indexrelid::regclass)
      FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE (indpred IS NOT NULL OR indexprs IS NOT NULL) AND relnamespace = 'public'::regnamespace
      UNION ALL
      SELECT format('ALTER TABLE %s DROP COLUMN %I', attrelid::regclass, attname)
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE attgenerated <> '' AND relnamespace = 'public'::regnamespace
    LOOP EXECUTE statement; END LOOP;
  END $$`;

/**
 * The SQL from the migrated database at `url` to `schemaFile`; "" if they are equal. Compares only the schema `public`
 * and what schema.prisma can express. The database is disposable: checks, such indexes and generated columns are
 * dropped in it first.
 * @param {string} url
 * @param {string} schemaFile
 */
export async function findSchemaDifference(url, schemaFile) {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on("error", () => {});
  try {
    await pool.query(DROP_UNSPEAKABLE);
    readCharAsText(pool);
    const engine = await startEngine(pool);
    const files = [{ path: schemaFile, content: await readFile(schemaFile, "utf8") }];
    const { stdout } = await engine.diff({
      from: { tag: "schemaDatasource", files, configDir: dirname(schemaFile) },
      to: { tag: "schemaDatamodel", files },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    const script = (stdout ?? "").trim();
    return script === "-- This is an empty migration." ? "" : script;
  } finally {
    await pool.end();
  }
}

/** @type {Promise<void> | undefined} */
let loading;

/** @param {pg.Pool} pool */
async function startEngine(pool) {
  loading ??= load();
  await loading;
  const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
  return glue.SchemaEngine.new({ datamodels: undefined }, () => {}, factory);
}

/** Node cannot import .wasm files, so the engine is assembled by hand, once. */
async function load() {
  const file = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const module = await WebAssembly.compile(await readFile(file.replace(/\.js$/, ".wasm")));
  const { exports } = await WebAssembly.instantiate(module, { "./schema_engine_bg.js": glue });
  glue.__wbg_set_wasm(exports);
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: console.error } });
  const start = exports.__wbindgen_start;
  if (typeof start === "function") start();
}

/**
 * PostgreSQL's catalogues have columns of type "char" (18), which the adapter refuses: they are read as text (25).
 * @param {pg.Pool} pool
 */
function readCharAsText(pool) {
  const query = pool.query.bind(pool);
  Object.defineProperty(pool, "query", {
    /** @param {import("pg").QueryArrayConfig} config @param {unknown[]} values */
    value: async (config, values) => {
      const result = await query(config, values);
      for (const field of result.fields) if (field.dataTypeID === 18) field.dataTypeID = 25;
      return result;
    },
  });
}
