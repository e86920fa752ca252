-- A running run that gave its place back is to be admitted again, like a pending one.
DROP INDEX runs_to_admit;
CREATE INDEX runs_to_admit ON runs (organization_id, id) WHERE status IN ('Pending', 'Running') AND admitted_at IS NULL;
