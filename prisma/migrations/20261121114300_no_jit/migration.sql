-- Compiling a query takes PostgreSQL longer than any of ours runs, and the high cost of run_words would make it try. Where
-- the database is not the migrating role's own, it stays as its operator set it (docs/operating.md).
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
