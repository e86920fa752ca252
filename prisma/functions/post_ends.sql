-- Ends runs: their rows, the lines of their credits, the slots. Returns the runs that ended.
CREATE FUNCTION post_ends(p_worker text, now_ timestamptz, ends end_item[], calls_back boolean) RETURNS json LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE ended json; has_children boolean; has_failed boolean; has_addresses boolean;
BEGIN
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
    RETURNING e.i, runs.id, runs.organization_id AS org, runs.root_run_id AS root, e.credits, e.note, e.status, was.held, was.admitted_at IS NOT NULL AS had_slot,
      was.callback_url IS NOT NULL AS has_address
  ), lines AS (
    -- What a child used was held by its root: that part of the hold is released with the child.
    SELECT org, id, i * 2 AS ord, 'release'::credit_entry_kind AS kind, CASE WHEN root = id THEN held ELSE credits END AS amount, note FROM done
    WHERE CASE WHEN root = id THEN held ELSE credits END > 0
    UNION ALL
    SELECT org, id, i * 2 + 1, 'charge', -credits, 'run ended' FROM done WHERE credits > 0
  ), posted AS (
    INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
    SELECT l.org, o.ledger_sequence + row_number() OVER w, l.kind, l.amount, o.balance + sum(l.amount) OVER w - l.amount, o.balance + sum(l.amount) OVER w,
      l.id, l.note, 'run', now_
    FROM lines l JOIN organizations o ON o.id = l.org WINDOW w AS (PARTITION BY l.org ORDER BY l.ord) RETURNING organization_id AS org, amount
  ), queued AS (
    INSERT INTO run_index_queue (run_id, organization_id) SELECT id, org FROM done
  ), sums AS (
    SELECT org, sum(amount) AS amount, sum(lines)::int AS lines, sum(slots)::int AS slots FROM (
      SELECT org, amount, 1 AS lines, 0 AS slots FROM posted
      UNION ALL SELECT org, 0, 0, 1 FROM done WHERE root = id AND had_slot) q
    GROUP BY org
  ), paid AS (
    UPDATE organizations o SET balance = balance + sums.amount, ledger_sequence = ledger_sequence + sums.lines, in_flight = in_flight - sums.slots,
      updated_at = now_
    FROM sums WHERE o.id = sums.org
  )
  SELECT json_agg(json_build_object('i', i, 'root', root, 'child', root <> id, 'credits', credits, 'failed', status <> 'Completed')),
    bool_or(root <> id), bool_or(status <> 'Completed'), bool_or(has_address) INTO ended, has_children, has_failed, has_addresses FROM done;
  IF calls_back OR has_addresses THEN PERFORM store_callback_events(now_, ended, ends); END IF;
  IF has_children THEN
    UPDATE runs SET held = held - d.credits
    FROM (SELECT root, sum(credits) AS credits FROM json_to_recordset(ended) AS d (root uuid, child boolean, credits numeric) WHERE child GROUP BY root) d
    WHERE runs.id = d.root AND d.credits > 0;
  END IF;
  IF has_failed THEN PERFORM fail_open_rows(now_, ended, ends); END IF;
  RETURN ended;
END $$;
