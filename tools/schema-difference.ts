import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import * as glue from "@prisma/schema-engine-wasm/schema_engine_bg";
import pg from "pg";

/** The rules that schema.prisma and prisma/functions/ cannot express. `obstacle`: drops what Prisma's engine would fail on. */
const RULES = `
  SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS rule,
    format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS obstacle
  FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0 AND connamespace = 'public'::regnamespace
  UNION ALL
  SELECT pg_get_indexdef(indexrelid), format('DROP INDEX %s', indexrelid::regclass)
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE (indpred IS NOT NULL OR indexprs IS NOT NULL) AND relnamespace = 'public'::regnamespace
  UNION ALL
  SELECT pg_get_triggerdef(pg_trigger.oid), NULL
  FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
  WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace
  UNION ALL
  SELECT format('CREATE FUNCTION %s RETURNS %s %s', oid::regprocedure, pg_get_function_result(oid),
      CASE provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END)
      || CASE WHEN proisstrict THEN ' STRICT' ELSE '' END || coalesce(' SET ' || array_to_string(proconfig, ' SET '), '') 
      || CASE WHEN proname LIKE '%\\_rules' THEN format(' AS $$%s$$', prosrc) ELSE format(' /* md5 of the body: %s */', md5(prosrc)) END, NULL
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname NOT IN (SELECT name FROM sql_functions)
  UNION ALL
  SELECT format('CREATE TYPE %s AS (%s)', pg_class.oid::regclass,
      string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)), NULL
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
  WHERE relkind = 'c' AND relnamespace = 'public'::regnamespace GROUP BY pg_class.oid
  UNION ALL
  SELECT format('ALTER TABLE %s SET (%s)', oid::regclass, array_to_string(reloptions, ', ')), NULL
  FROM pg_class WHERE reloptions IS NOT NULL AND relkind = 'r' AND relnamespace = 'public'::regnamespace`;

/**
 * The checks, partial indexes, triggers, functions, types and storage settings of a database, as PostgreSQL prints them. Of a
 * function's body it has the hash, unless the function is a table's rules.
 */
export async function readSchemaRules(url: string): Promise<string[]> {
  const rules = await withPool(url, (pool) => pool.query(RULES));
  return rules.rows.map(({ rule }) => `${rule};`).sort();
}

/**
 * The SQL from the migrated database at `url` to `schemaFile`; "" if they are equal. Compares only the schema
 * `public` and what schema.prisma can express. The database must be disposable: it loses some rules.
 */
export function findSchemaDifference(url: string, schemaFile: string): Promise<string> {
  return withPool(url, async (pool) => {
    const rules = await pool.query(RULES);
    for (const { obstacle } of rules.rows) if (obstacle !== null) await pool.query(obstacle);
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
  });
}

async function withPool<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on("error", () => {});
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

let loading: Promise<void> | undefined;

async function startEngine(pool: pg.Pool) {
  loading ??= load();
  await loading;
  const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
  return glue.SchemaEngine.new({ datamodels: undefined }, () => {}, factory);
}

/** Node cannot import .wasm files, so that the engine is assembled by hand. */
async function load() {
  const file = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const module = await WebAssembly.compile(await readFile(file.replace(/\.js$/, ".wasm")));
  const { exports } = await WebAssembly.instantiate(module, { "./schema_engine_bg.js": glue });
  glue.__wbg_set_wasm(exports);
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: console.error } });
  const start = exports.__wbindgen_start;
  if (typeof start === "function") start();
}

/** The adapter rejects "char" (18), so that it is read as text (25). */
function readCharAsText(pool: pg.Pool): void {
  const query = pool.query.bind(pool);
  Object.defineProperty(pool, "query", {
    value: async (config: pg.QueryArrayConfig, values: unknown[]) => {
      const result = await query(config, values);
      for (const field of result.fields) if (field.dataTypeID === 18) field.dataTypeID = 25;
      return result;
    },
  });
}
