CREATE TABLE trace_queue (
  run_id uuid NOT NULL,
  organization_id uuid NOT NULL,
  queued_at timestamptz(3) NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz(3) NOT NULL,
  CONSTRAINT trace_queue_pkey PRIMARY KEY (run_id)
);
CREATE INDEX trace_queue_next_at_idx ON trace_queue (next_at);
