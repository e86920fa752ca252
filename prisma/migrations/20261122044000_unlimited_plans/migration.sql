-- Rates of a plan are any positive number; NULL means unlimited.
ALTER TABLE plans
  ALTER COLUMN starts_per_minute DROP NOT NULL,
  ALTER COLUMN reads_per_minute DROP NOT NULL,
  DROP CONSTRAINT plans_ranges,
  ADD CONSTRAINT plans_ranges CHECK (
    monthly_credits >= 0 AND coalesce(starts_per_minute, 1) >= 1 AND coalesce(reads_per_minute, 1) >= 1
    AND concurrency BETWEEN 1 AND 10000 AND retention_days BETWEEN 1 AND 36500
  );
