-- A fork continues an ended run from one of its steps. It outlives its origin, so there is no foreign key.
CREATE TYPE fork_mode AS ENUM ('recorded', 'live');
ALTER TABLE runs ADD COLUMN forked_from UUID, ADD COLUMN fork_step INTEGER, ADD COLUMN fork_mode fork_mode;
CREATE INDEX runs_forked_from ON runs (organization_id, forked_from) WHERE forked_from IS NOT NULL;
-- Functions of an earlier release don't know this attribute, which is null then.
ALTER TYPE start_item ADD ATTRIBUTE fork TEXT;
