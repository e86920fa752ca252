-- Filtered deliveries have no run.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_outcome;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_outcome CHECK (
  (outcome = 'rejected' AND code IS NOT NULL AND reason IS NOT NULL AND run_id IS NULL)
  OR (outcome = 'filtered' AND code IS NULL AND run_id IS NULL)
  OR (outcome IN ('accepted', 'repeated') AND code IS NULL AND run_id IS NOT NULL));

-- The bodies of filtered calls are bounded like those of rejected ones.
DROP INDEX deliveries_refused_bodies;
CREATE INDEX deliveries_unaccepted_bodies ON deliveries (trigger_id, id DESC) INCLUDE (body_bytes)
  WHERE outcome <> 'accepted' AND body_bytes > 4096 AND body_note IS NULL;
