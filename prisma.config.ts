import { defineConfig } from "prisma/config";

// `generate`, `validate` and `format` only want some existing file as schema engine: naming Node itself
// keeps the CLI from downloading one. Migrations are applied by server/db/migrate.ts.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: "prisma/schema.prisma", migrations: { path: "prisma/migrations" } });
