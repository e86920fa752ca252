CREATE TYPE overlap_policy AS ENUM ('skip', 'queue', 'allow');
CREATE TYPE tick_outcome AS ENUM ('started', 'skipped', 'missed');

CREATE TABLE schedules (
  id UUID NOT NULL,
  organization_id UUID NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  agent_id UUID,
  tool_id UUID,
  input TEXT NOT NULL,
  cron TEXT NOT NULL,
  time_zone TEXT NOT NULL DEFAULT 'UTC',
  overlap overlap_policy NOT NULL DEFAULT 'skip',
  catch_up_seconds INTEGER NOT NULL DEFAULT 3600,
  jitter_seconds INTEGER NOT NULL DEFAULT 0,
  paused_at TIMESTAMPTZ(3),
  next_at TIMESTAMPTZ(3),
  created_at TIMESTAMPTZ(3) NOT NULL,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  deleted_at TIMESTAMPTZ(3),
  CONSTRAINT schedules_pkey PRIMARY KEY (id),
  CONSTRAINT schedules_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
  CONSTRAINT schedules_one_target CHECK ((agent_id IS NULL) <> (tool_id IS NULL)),
  CONSTRAINT schedules_ranges CHECK (catch_up_seconds BETWEEN 60 AND 86400 AND jitter_seconds BETWEEN 0 AND 3600),
  CONSTRAINT schedules_rest CHECK (next_at IS NULL OR (paused_at IS NULL AND deleted_at IS NULL)),
  CONSTRAINT schedules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT schedules_organization_id_agent_id_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents (organization_id, id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT schedules_organization_id_tool_id_fkey FOREIGN KEY (organization_id, tool_id) REFERENCES tools (organization_id, id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE UNIQUE INDEX schedules_organization_id_id_key ON schedules (organization_id, id);
CREATE UNIQUE INDEX schedules_organization_id_slug_key ON schedules (organization_id, slug);
CREATE INDEX schedules_next ON schedules (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE schedule_ticks (
  schedule_id UUID NOT NULL,
  due_at TIMESTAMPTZ(3) NOT NULL,
  organization_id UUID NOT NULL,
  attempt_at TIMESTAMPTZ(3) NOT NULL,
  queued_at TIMESTAMPTZ(3),
  outcome tick_outcome,
  code TEXT,
  reason TEXT,
  run_id UUID,
  decided_at TIMESTAMPTZ(3),
  CONSTRAINT schedule_ticks_pkey PRIMARY KEY (schedule_id, due_at),
  CONSTRAINT schedule_ticks_outcome CHECK (
    (outcome IS NULL AND code IS NULL AND reason IS NULL AND run_id IS NULL AND decided_at IS NULL)
    OR (outcome = 'started' AND code IS NULL AND reason IS NULL AND run_id IS NOT NULL AND decided_at IS NOT NULL)
    OR (outcome IN ('skipped', 'missed') AND code IS NOT NULL AND reason IS NOT NULL AND run_id IS NULL AND decided_at IS NOT NULL)),
  CONSTRAINT schedule_ticks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT schedule_ticks_organization_id_schedule_id_fkey FOREIGN KEY (organization_id, schedule_id) REFERENCES schedules (organization_id, id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE INDEX schedule_ticks_organization_id_due_at_idx ON schedule_ticks (organization_id, due_at);
CREATE INDEX schedule_ticks_undecided ON schedule_ticks (attempt_at) WHERE outcome IS NULL;

ALTER TYPE start_item ADD ATTRIBUTE schedule UUID;
ALTER TABLE runs ADD COLUMN schedule_id UUID;
ALTER TABLE runs ADD CONSTRAINT runs_organization_id_schedule_id_fkey FOREIGN KEY (organization_id, schedule_id) REFERENCES schedules (organization_id, id) ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE runs DROP CONSTRAINT runs_source;
ALTER TABLE runs ADD CONSTRAINT runs_source CHECK (
  (source <> 'webhook' OR trigger_id IS NOT NULL)
  AND ((source = 'schedule') = (schedule_id IS NOT NULL))
  AND (source <> 'api' OR api_key_id IS NOT NULL)
  AND (source <> 'dashboard' OR user_id IS NOT NULL)
  AND ((source = 'run') = (parent_run_id IS NOT NULL)));
-- An earlier run that is still open.
CREATE INDEX runs_of_schedule ON runs (schedule_id) WHERE status IN ('Pending', 'Running') AND schedule_id IS NOT NULL;
