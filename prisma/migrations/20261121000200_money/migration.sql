-- Whose cap a run's max_credits is, in words for its error message.
ALTER TABLE "runs" ADD COLUMN "max_credits_of" TEXT;

-- The month (YYYY-MM, UTC) whose credits the plan has granted last.
ALTER TABLE "plans" ADD COLUMN "granted_month" TEXT;

-- What retention looks for.
CREATE INDEX "deliveries_organization_id_received_at_idx" ON "deliveries" ("organization_id", "received_at");
CREATE INDEX runs_to_retire ON runs (organization_id, finished_at) WHERE finished_at IS NOT NULL AND parent_run_id IS NULL;

-- A run is refunded at most once.
CREATE UNIQUE INDEX credit_entries_one_refund ON credit_entries (run_id) WHERE kind = 'refund' AND run_id IS NOT NULL;
