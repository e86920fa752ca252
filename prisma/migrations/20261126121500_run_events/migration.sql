-- Numbers for the events of a run. Runs that ended before have none for their steps.
ALTER TABLE steps ADD COLUMN started_event INTEGER, ADD COLUMN finished_event INTEGER;

CREATE TABLE run_events (
  run_id UUID NOT NULL,
  n INTEGER NOT NULL,
  organization_id UUID NOT NULL,
  reason TEXT NOT NULL,
  until TIMESTAMPTZ(3),
  created_at TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT run_events_pkey PRIMARY KEY (run_id, n),
  CONSTRAINT run_events_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE ON UPDATE CASCADE
);
