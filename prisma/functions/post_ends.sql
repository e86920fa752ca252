-- Ends runs: their rows, the lines of their credits, the slots. Returns the runs that ended.
CREATE FUNCTION post_ends(p_worker text, now_ timestamptz, ends end_item[], calls_back boolean) RETURNS json LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  r record; released numeric; lines ledger_line[] := '{}'; ended_ json[]; ended json;
  has_children boolean := false; has_failed boolean := false; has_addresses boolean := false;
BEGIN
  FOR r IN
    WITH e AS (
      SELECT * FROM unnest(ends)
    ), done AS (
      UPDATE runs SET status = e.status, finished_at = now_, output = e.output, error_code = e.code, error_message = e.message,
        cancelled_by = coalesce(e.cancelled_by, runs.cancelled_by), input_tokens = e.input_tokens, output_tokens = e.output_tokens, actions_used = e.actions,
        steps_executed = e.steps, credits_used = e.credits, held = 0, sequence = e.sequence
      FROM e JOIN runs was ON was.id = e.run
      -- Not `IN ('Pending', 'Running')`: that would scan the index of open runs.
      WHERE runs.id = e.run AND runs.epoch = e.epoch AND runs.status NOT IN ('Completed', 'Failed', 'Cancelled')
        AND CASE WHEN e.unclaimed THEN runs.claimed_by IS NULL ELSE runs.claimed_by = p_worker END
      RETURNING e.i, runs.id, runs.organization_id AS org, runs.root_run_id AS root, e.credits, e.note, e.status, was.held,
        runs.admitted_at IS NOT NULL AS had_slot, runs.callback_url IS NOT NULL AS has_address
    ), queued AS (
      INSERT INTO run_index_queue (run_id, organization_id) SELECT id, org FROM done
    )
    SELECT *, root <> id AS child, status <> 'Completed' AS failed FROM done ORDER BY org, i
  LOOP
    -- What a child used was held by its root: that part of the hold is released with the child.
    released := CASE WHEN r.child THEN r.credits ELSE r.held END;
    IF released > 0 OR NOT r.child THEN
      lines := lines || ROW(r.org, r.id, 'release', nullif(released, 0), r.note, 'run', -(r.had_slot AND NOT r.child)::int)::ledger_line;
    END IF;
    IF r.credits > 0 THEN lines := lines || ROW(r.org, r.id, 'charge', -r.credits, 'run ended', 'run', 0)::ledger_line; END IF;
    ended_ := ended_ || json_build_object('i', r.i, 'root', r.root, 'child', r.child, 'credits', r.credits, 'failed', r.failed);
    has_children := has_children OR r.child;
    has_failed := has_failed OR r.failed;
    has_addresses := has_addresses OR r.has_address;
  END LOOP;
  IF ended_ IS NULL THEN RETURN NULL; END IF;
  ended := array_to_json(ended_);
  PERFORM post_lines(now_, lines);
  IF calls_back OR has_addresses THEN PERFORM store_callback_events(now_, ended, ends); END IF;
  IF has_children THEN
    UPDATE runs SET held = held - d.credits
    FROM (SELECT root, sum(credits) AS credits FROM json_to_recordset(ended) AS d (root uuid, child boolean, credits numeric) WHERE child GROUP BY root) d
    WHERE runs.id = d.root AND d.credits > 0;
  END IF;
  IF has_failed THEN PERFORM fail_open_rows(now_, ended, ends); END IF;
  RETURN ended;
END $$;
