import { defineConfig } from "prisma/config";

// `generate`, `validate` and `format` need some existing file as schema engine; naming Node keeps the CLI from
// downloading one. server/base/db/migrate.ts applies migrations.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: "prisma/schema.prisma", migrations: { path: "prisma/migrations" } });
