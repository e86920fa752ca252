-- A run knows how many workers crashed that executed it. From the second crash on it is a suspect: only a process of its own
-- executes it, so that it harms no other run.
ALTER TABLE "runs" ADD COLUMN "crashes" INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_suspect ON runs (organization_id, id) WHERE status IN ('Pending', 'Running') AND crashes >= 2;
