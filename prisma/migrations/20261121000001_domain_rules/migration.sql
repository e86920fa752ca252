-- Rules that make wrong states impossible and that schema.prisma cannot say.

-- Money -------------------------------------------------------------------------------------------------
ALTER TABLE organizations
  ADD CONSTRAINT organizations_balance_not_negative CHECK (balance >= 0),
  ADD CONSTRAINT organizations_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$');

ALTER TABLE credit_entries
  ADD CONSTRAINT credit_entries_adds_up CHECK (balance_after = balance_before + amount),
  ADD CONSTRAINT credit_entries_not_negative CHECK (balance_before >= 0 AND balance_after >= 0),
  ADD CONSTRAINT credit_entries_sign CHECK (
    (kind IN ('grant', 'release', 'refund') AND amount >= 0)
    OR (kind IN ('hold', 'charge') AND amount <= 0)
    OR kind = 'adjustment'
  ),
  ADD CONSTRAINT credit_entries_run CHECK (kind NOT IN ('hold', 'charge', 'release') OR run_id IS NOT NULL);

CREATE FUNCTION credit_entries_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Deleting an organization takes its ledger along; nothing else removes a line.
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT 1 FROM organizations WHERE id = OLD.organization_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER credit_entries_append_only BEFORE UPDATE OR DELETE ON credit_entries
  FOR EACH ROW EXECUTE FUNCTION credit_entries_append_only();

-- Plans and limits ----------------------------------------------------------------------------------------
ALTER TABLE plans
  ADD CONSTRAINT plans_ranges CHECK (
    monthly_credits >= 0 AND starts_per_minute BETWEEN 1 AND 100000 AND reads_per_minute BETWEEN 1 AND 100000
    AND concurrency BETWEEN 1 AND 10000 AND retention_days BETWEEN 1 AND 36500
  );

ALTER TABLE api_keys
  ADD CONSTRAINT api_keys_hash_length CHECK (octet_length(hash) = 32),
  ADD CONSTRAINT api_keys_limits CHECK (
    coalesce(starts_per_minute, 1) >= 1 AND coalesce(reads_per_minute, 1) >= 1 AND coalesce(max_credits, 1) > 0
  );

-- Definitions ---------------------------------------------------------------------------------------------
ALTER TABLE agents ADD CONSTRAINT agents_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$');
ALTER TABLE tools ADD CONSTRAINT tools_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$');

ALTER TABLE agent_versions
  ADD CONSTRAINT agent_versions_ranges CHECK (
    number >= 1 AND max_steps BETWEEN 1 AND 12 AND deadline_seconds BETWEEN 1 AND 86400
    AND coalesce(max_credits, 1) > 0
  );
ALTER TABLE tool_versions
  ADD CONSTRAINT tool_versions_ranges CHECK (
    number >= 1 AND deadline_seconds BETWEEN 1 AND 86400 AND coalesce(max_credits, 1) > 0
  );

-- Webhooks ------------------------------------------------------------------------------------------------
ALTER TABLE triggers
  ADD CONSTRAINT triggers_one_target CHECK (num_nonnulls(agent_id, tool_id) = 1),
  ADD CONSTRAINT triggers_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
  ADD CONSTRAINT triggers_hash_length CHECK (octet_length(token_hash) = 32),
  ADD CONSTRAINT triggers_limits CHECK (
    rate_limit_requests BETWEEN 1 AND 100000 AND rate_limit_seconds BETWEEN 1 AND 86400 AND coalesce(max_credits, 1) > 0
  );

ALTER TABLE deliveries
  ADD CONSTRAINT deliveries_outcome CHECK (
    (outcome = 'rejected' AND code IS NOT NULL AND reason IS NOT NULL AND run_id IS NULL)
    OR (outcome <> 'rejected' AND code IS NULL AND run_id IS NOT NULL)
  );

-- Runs ----------------------------------------------------------------------------------------------------
ALTER TABLE runs
  ADD CONSTRAINT runs_one_target CHECK (
    (kind = 'agent' AND agent_id IS NOT NULL AND tool_id IS NULL AND model IS NOT NULL)
    OR (kind = 'tool' AND tool_id IS NOT NULL AND agent_id IS NULL)
  ),
  ADD CONSTRAINT runs_times CHECK (
    (status = 'Pending' AND started_at IS NULL AND finished_at IS NULL)
    OR (status = 'Running' AND started_at IS NOT NULL AND finished_at IS NULL)
    OR (status = 'Completed' AND started_at IS NOT NULL AND finished_at IS NOT NULL)
    OR (status IN ('Failed', 'Cancelled') AND finished_at IS NOT NULL)
  ),
  ADD CONSTRAINT runs_output CHECK (
    (status = 'Completed' AND output IS NOT NULL) OR (status <> 'Completed' AND output IS NULL)
  ),
  ADD CONSTRAINT runs_error CHECK ((status = 'Failed') = (error_message IS NOT NULL)),
  ADD CONSTRAINT runs_cancelled CHECK (status <> 'Cancelled' OR cancelled_by IS NOT NULL),
  ADD CONSTRAINT runs_figures CHECK (
    steps_executed >= 0 AND input_tokens >= 0 AND output_tokens >= 0 AND actions_used >= 0
    AND credits_used >= 0 AND held >= 0 AND coalesce(max_credits, 1) > 0
  ),
  -- A hold ends with its run, in the same transaction; children draw on their root's.
  ADD CONSTRAINT runs_hold_ends CHECK (held = 0 OR (status IN ('Pending', 'Running') AND root_run_id = id)),
  ADD CONSTRAINT runs_root CHECK ((parent_run_id IS NULL) = (root_run_id = id)),
  ADD CONSTRAINT runs_source CHECK (
    (source <> 'webhook' OR trigger_id IS NOT NULL) AND (source <> 'api' OR api_key_id IS NOT NULL)
    AND (source <> 'dashboard' OR user_id IS NOT NULL) AND ((source = 'run') = (parent_run_id IS NOT NULL))
  );

ALTER TABLE steps
  ADD CONSTRAINT steps_numbers CHECK (step_number >= 1 AND iteration_number >= 1 AND actions >= 0 AND credits >= 0),
  ADD CONSTRAINT steps_finished CHECK (
    (status = 'Running' AND finished_at IS NULL AND output IS NULL)
    OR (status <> 'Running' AND finished_at IS NOT NULL AND output IS NOT NULL AND duration_ms IS NOT NULL)
  );
ALTER TABLE model_calls
  ADD CONSTRAINT model_calls_finished CHECK ((status = 'Running') = (finished_at IS NULL));

CREATE FUNCTION runs_keep_their_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('Completed', 'Failed', 'Cancelled') THEN
    IF ROW(NEW.*) IS DISTINCT FROM ROW(OLD.*) THEN
      RAISE EXCEPTION 'run % is % and frozen', OLD.id, OLD.status USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  ELSIF OLD.status = 'Running' AND NEW.status = 'Pending' THEN
    RAISE EXCEPTION 'run % cannot go back to Pending', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER runs_keep_their_state BEFORE UPDATE ON runs
  FOR EACH ROW EXECUTE FUNCTION runs_keep_their_state();

-- The dispatcher's and the sweeper's view: small, whatever the history's size.
CREATE INDEX runs_to_admit ON runs (organization_id, id) WHERE status = 'Pending' AND admitted_at IS NULL;
CREATE INDEX runs_in_flight ON runs (organization_id) WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL;
CREATE INDEX steps_running ON steps (run_id) WHERE status = 'Running';
