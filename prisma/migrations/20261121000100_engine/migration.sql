-- The embedded engine's own memory, apart from the domain: nothing outside inngest/embedded reads or writes it.
-- Payloads are JSON kept as text: jsonb reorders keys and refuses \u0000.
CREATE SCHEMA engine;

-- Ids of events already taken in, so that an event sent twice starts its runs once.
CREATE TABLE engine.events (
  id          text PRIMARY KEY,
  name        text NOT NULL,
  received_at timestamptz NOT NULL
);
CREATE INDEX events_received_at ON engine.events (received_at);

-- One run of one function for one event.
CREATE TABLE engine.runs (
  id             uuid PRIMARY KEY,
  function_id    text NOT NULL,
  event_id       text NOT NULL,
  event          text NOT NULL,
  status         text NOT NULL DEFAULT 'running'
                 CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
  -- What its jobs count against, in the order of the function's concurrency options.
  limit_keys     text[] NOT NULL DEFAULT '{}',
  -- The step that invoked this run and waits for it. No foreign key: the parent may be gone first.
  parent_run_id  uuid,
  parent_step_id text,
  result         text,
  created_at     timestamptz NOT NULL,
  finished_at    timestamptz,
  CHECK ((status = 'running') = (finished_at IS NULL)),
  CHECK ((parent_run_id IS NULL) = (parent_step_id IS NULL))
);
CREATE INDEX runs_event_id ON engine.runs (event_id);
CREATE INDEX runs_unfinished ON engine.runs (function_id, id) WHERE status = 'running';
CREATE INDEX runs_finished_at ON engine.runs (finished_at) WHERE finished_at IS NOT NULL;

-- The memory of finished steps. `state` is what the SDK is handed back: {"type":"data"|"error", …}.
CREATE TABLE engine.steps (
  run_id   uuid NOT NULL REFERENCES engine.runs ON DELETE CASCADE,
  id       text NOT NULL,
  name     text NOT NULL,
  state    text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (run_id, id)
);

-- What unfinished runs wait for. A run always has at least one job; a finished run has none.
CREATE TABLE engine.jobs (
  id          uuid PRIMARY KEY,
  run_id      uuid NOT NULL REFERENCES engine.runs ON DELETE CASCADE,
  function_id text NOT NULL,
  -- The step this job settles, or 'step' to go through the function and discover what comes next.
  step_id     text NOT NULL,
  step_name   text NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('discover', 'step', 'sleep', 'event', 'invoke')),
  -- Calls that failed or died since the last progress.
  attempt     integer NOT NULL DEFAULT 0,
  -- Free: when the job may be claimed. Claimed: when its lease ends and it may be claimed again.
  due_at      timestamptz NOT NULL,
  claimed     boolean NOT NULL DEFAULT false,
  -- Counts the claims. Whoever does not hold the newest one is refused.
  generation  integer NOT NULL DEFAULT 0,
  -- Steps planned together: the function goes on when the last of its cohort is settled. In a race each is alone.
  cohort      uuid NOT NULL,
  -- Discover once more after the discovery that is under way.
  again       boolean NOT NULL DEFAULT false,
  -- For kind 'event': the name waited for and the CEL condition.
  event_name  text,
  condition   text,
  limit_keys  text[] NOT NULL DEFAULT '{}',
  UNIQUE (run_id, step_id),
  CHECK ((kind = 'event') = (event_name IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);
CREATE INDEX jobs_due_at ON engine.jobs (due_at);
CREATE INDEX jobs_event_name ON engine.jobs (event_name) WHERE event_name IS NOT NULL;
CREATE INDEX jobs_claimed ON engine.jobs (function_id) WHERE claimed;
