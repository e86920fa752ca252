-- One flush of a worker's lane: everything that was queued, in one transaction. Locks are taken in one order everywhere:
-- lane, rate counters, organizations, runs; each kind sorted. The answer is returned and kept in the lane's row.
CREATE FUNCTION flush_writes(
  p_worker text, p_lane text, p_flush bigint, p_at timestamptz, p_slots int,
  p_children json, p_calls json, p_steps json, p_ends json, p_holds json, p_starts json
) RETURNS text LANGUAGE plpgsql
  -- It reads tables by key only. Its plans are made once: look-ups in indexes, whatever the statistics say.
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  last_flush bigint;
  now_ timestamptz(3);
  r record;
  n int;
  used int;
  slots int := p_slots;
  org_balance numeric;
  starts start_item[];
  ends end_item[];
  verdicts text[] := '{}';
  holds text[];
  replays json;
  rates json;
  kept json[] := '{}';
  ended json;
  has_keys boolean;
  has_documents boolean;
  has_deliveries boolean;
  has_refunds boolean;
  has_children boolean;
  has_failed boolean;
  answer_ text;
BEGIN
  SELECT flush INTO last_flush FROM worker_lanes WHERE worker_id = p_worker AND lane = p_lane FOR NO KEY UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'worker % was replaced', p_worker USING ERRCODE = 'SW001'; END IF;
  IF last_flush <> p_flush - 1 THEN
    RAISE EXCEPTION 'flush % of lane % was written before', p_flush, p_lane USING ERRCODE = 'SW002';
  END IF;
  now_ := coalesce(p_at, clock_timestamp());

  -- Child runs and the journal. A finished row is never changed again.
  IF p_children IS NOT NULL THEN
    INSERT INTO configurations (organization_id, hash, document, created_at)
    SELECT DISTINCT ON (org, hash) org, decode(hash, 'hex'), document, now_
    FROM json_to_recordset(p_children) AS c (org uuid, hash text, document text)
    ON CONFLICT (organization_id, hash) DO NOTHING;
    INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source,
      parent_run_id, root_run_id, input, max_credits, max_credits_of, created_at, admitted_at, started_at, deadline_seconds, claimed_by, epoch, sequence)
    SELECT id, org, kind, agent, tool, name, version, model, decode(hash, 'hex'), 'Running', 'run',
      parent, root, input, cap, cap_of, now_, now_, now_, deadline, p_worker, 1, 1
    FROM json_to_recordset(p_children) AS c (id uuid, org uuid, kind run_kind, agent uuid, tool uuid, name text, version int, model text, hash text,
      parent uuid, root uuid, input text, cap numeric, cap_of text, deadline int);
  END IF;
  IF p_calls IS NOT NULL THEN
    INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, status, content, reasoning, tool_calls,
      state_sealed, finish_reason, input_tokens, output_tokens, estimated, credits, error_message, attempts, started_at, finished_at, duration_ms, sequence)
    SELECT id, org, run, key, iteration, provider, model, status, content, reasoning, tool_calls, decode(state, 'base64'), finish_reason, input_tokens, output_tokens, estimated, credits,
      error, attempts, started_at, CASE WHEN status <> 'Running' THEN started_at + make_interval(secs => duration / 1000.0) END, duration, sequence
    FROM json_to_recordset(p_calls) AS c (id uuid, org uuid, run uuid, key text, iteration int, provider text, model text, status step_status, content text,
      reasoning text, tool_calls text, state text, finish_reason text, input_tokens int, output_tokens int, estimated boolean, credits numeric, error text, attempts text,
      started_at timestamptz, duration int, sequence int)
    ON CONFLICT (run_id, key) DO UPDATE SET provider = EXCLUDED.provider, status = EXCLUDED.status, content = EXCLUDED.content, reasoning = EXCLUDED.reasoning,
      tool_calls = EXCLUDED.tool_calls, state_sealed = EXCLUDED.state_sealed, finish_reason = EXCLUDED.finish_reason, estimated = EXCLUDED.estimated,
      -- A call that failed after output had begun was charged; when it is made again, both count.
      input_tokens = model_calls.input_tokens + EXCLUDED.input_tokens, output_tokens = model_calls.output_tokens + EXCLUDED.output_tokens,
      credits = model_calls.credits + EXCLUDED.credits, error_message = EXCLUDED.error_message, attempts = EXCLUDED.attempts,
      started_at = EXCLUDED.started_at, finished_at = EXCLUDED.finished_at, duration_ms = EXCLUDED.duration_ms, sequence = EXCLUDED.sequence
    WHERE model_calls.status <> 'Completed';
  END IF;
  IF p_steps IS NOT NULL THEN
    INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, status, input, output, reasoning, input_tokens,
      output_tokens, actions, credits, error_message, attempts, child_run_id, started_at, finished_at, duration_ms, sequence)
    SELECT id, org, run, key, number, iteration, tool, status, input, output, reasoning, input_tokens, output_tokens, actions, credits,
      error, attempts, child, started_at, CASE WHEN status <> 'Running' THEN started_at + make_interval(secs => duration / 1000.0) END, duration, sequence
    FROM json_to_recordset(p_steps) AS s (id uuid, org uuid, run uuid, key text, number int, iteration int, tool text, status step_status, input text,
      output text, reasoning text, input_tokens int, output_tokens int, actions int, credits numeric, error text, attempts text, child uuid,
      started_at timestamptz, duration int, sequence int)
    ON CONFLICT (run_id, key) DO UPDATE SET status = EXCLUDED.status, output = EXCLUDED.output, actions = EXCLUDED.actions, credits = EXCLUDED.credits,
      error_message = EXCLUDED.error_message, attempts = EXCLUDED.attempts, started_at = EXCLUDED.started_at, finished_at = EXCLUDED.finished_at,
      duration_ms = EXCLUDED.duration_ms, sequence = EXCLUDED.sequence
    WHERE steps.status = 'Running';
  END IF;
  IF p_ends IS NULL AND p_holds IS NULL AND p_starts IS NULL THEN
    UPDATE worker_lanes SET flush = p_flush, answer = NULL WHERE worker_id = p_worker AND lane = p_lane;
    RETURN NULL;
  END IF;

  IF p_ends IS NOT NULL THEN
    SELECT array_agg(e), bool_or(refund) INTO ends, has_refunds FROM json_populate_recordset(NULL::end_item, p_ends) AS e;
  END IF;
  IF p_starts IS NOT NULL THEN
    SELECT array_agg(s), array_agg(CASE WHEN refused THEN 'refuse' ELSE 'run' END), bool_or(idem IS NOT NULL), bool_or(document IS NOT NULL),
      bool_or(delivery IS NOT NULL)
    INTO starts, verdicts, has_keys, has_documents, has_deliveries FROM json_populate_recordset(NULL::start_item, p_starts) AS s;

    -- Repetitions of earlier calls.
    IF has_keys THEN
      SELECT json_agg(q) INTO replays FROM (
        SELECT s.i, k.run_id AS run, k.response, k.request_hash = decode(s.hash, 'hex') AS same
        FROM unnest(starts) AS s
        JOIN idempotency_keys k ON k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.expires_at > now_) q;
      FOR r IN SELECT * FROM json_to_recordset(replays) AS p (i int, same boolean) LOOP
        verdicts[r.i + 1] := CASE WHEN r.same THEN 'replay' ELSE 'conflict' END;
      END LOOP;
    END IF;

    -- Rate limits. Calls with an unlimited rate have no key here. A webhook's repetition comes before its limit and does not count.
    FOR r IN
      SELECT rate_key, min(rate_limit) AS rate_limit, min(rate_seconds) AS rate_seconds, count(*)::int AS wanted, array_agg(i ORDER BY i) AS items
      FROM unnest(starts) WHERE rate_key IS NOT NULL AND NOT (replay_first AND verdicts[i + 1] IN ('replay', 'conflict'))
      GROUP BY rate_key ORDER BY rate_key
    LOOP
      DECLARE taken record; BEGIN
        taken := take_rate(r.rate_key, r.wanted, r.rate_limit, r.rate_seconds, p_at);
        kept := kept || json_build_object('key', r.rate_key, 'remaining', taken.remaining, 'reset', taken.reset_seconds);
        FOR n IN taken.granted + 1 .. r.wanted LOOP verdicts[r.items[n] + 1] := 'rate'; END LOOP;
      END;
    END LOOP;
    rates := array_to_json(kept);
  END IF;

  -- From here on organizations change: all that this flush touches are locked in one order.
  PERFORM 1 FROM organizations WHERE id IN (
    SELECT org FROM unnest(ends)
    UNION ALL SELECT org FROM json_to_recordset(p_holds) AS h (org uuid)
    UNION ALL SELECT org FROM unnest(starts) WHERE verdicts[i + 1] = 'run'
  ) ORDER BY id FOR NO KEY UPDATE;

  -- Ends come before holds and starts: they free credits and slots.
  IF p_ends IS NOT NULL THEN
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
      RETURNING e.i, runs.id, runs.organization_id AS org, runs.root_run_id AS root, e.credits, e.note, e.status, was.held, was.admitted_at IS NOT NULL AS had_slot
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
      bool_or(root <> id), bool_or(status <> 'Completed') INTO ended, has_children, has_failed FROM done;
    IF has_children THEN
      UPDATE runs SET held = held - d.credits
      FROM (SELECT root, sum(credits) AS credits FROM json_to_recordset(ended) AS d (root uuid, child boolean, credits numeric) WHERE child GROUP BY root) d
      WHERE runs.id = d.root AND d.credits > 0;
    END IF;
    -- Whatever had begun and not finished ends with its run.
    IF has_failed THEN
      FOR r IN SELECT e.run, e.status, e.sequence FROM json_to_recordset(ended) AS d (i int, failed boolean) JOIN unnest(ends) AS e USING (i) WHERE d.failed LOOP
        UPDATE steps SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this step had finished.', r.status),
          output = json_build_object('error', format('The run ended (%s) before this step had finished.', r.status))::text,
          duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence
        WHERE run_id = r.run AND status = 'Running';
        UPDATE model_calls SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this call had finished.', r.status),
          duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence
        WHERE run_id = r.run AND status = 'Running';
      END LOOP;
    END IF;
    -- After a fault of the platform nothing is charged: what ended children of the run were charged is refunded.
    IF has_refunds THEN
      FOR r IN
        WITH RECURSIVE tree AS (
          SELECT e.run AS root, e.run AS id, e.org FROM json_to_recordset(ended) AS d (i int) JOIN unnest(ends) AS e USING (i) WHERE e.refund
          UNION ALL SELECT tree.root, c.id, tree.org FROM runs c JOIN tree ON c.parent_run_id = tree.id)
        SELECT tree.org, c.run_id, -sum(c.amount) FILTER (WHERE c.kind = 'charge') AS charged
        FROM tree JOIN credit_entries c ON c.run_id = tree.id AND c.organization_id = tree.org
        GROUP BY tree.org, c.run_id HAVING sum(c.amount) FILTER (WHERE c.kind = 'charge') < 0 AND NOT bool_or(c.kind = 'refund') ORDER BY min(c.sequence)
      LOOP
        UPDATE organizations SET balance = balance + r.charged, ledger_sequence = ledger_sequence + 1 WHERE id = r.org;
        INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
        SELECT r.org, ledger_sequence, 'refund', r.charged, balance - r.charged, balance, r.run_id, 'the calling run ended by a fault of the platform', 'run', now_
        FROM organizations WHERE id = r.org;
      END LOOP;
    END IF;
  END IF;

  -- Larger holds of running runs: all of an organization if they fit together, else one by one.
  IF p_holds IS NOT NULL THEN
    holds := array_fill('held'::text, ARRAY[json_array_length(p_holds)]);
    FOR r IN SELECT org, sum(amount) AS total, array_agg(i ORDER BY i) AS items, array_agg(amount ORDER BY i) AS amounts
             FROM json_to_recordset(p_holds) AS h (i int, org uuid, amount numeric) GROUP BY org ORDER BY org LOOP
      SELECT balance INTO org_balance FROM organizations WHERE id = r.org;
      IF org_balance < r.total THEN
        FOR n IN 1 .. array_length(r.items, 1) LOOP
          IF org_balance < r.amounts[n] THEN holds[r.items[n] + 1] := 'uncovered'; ELSE org_balance := org_balance - r.amounts[n]; END IF;
        END LOOP;
      END IF;
    END LOOP;
    WITH h AS (
      SELECT * FROM json_to_recordset(p_holds) AS h (i int, run uuid, org uuid, amount numeric) WHERE holds[i + 1] = 'held'
    ), raised AS (
      UPDATE runs SET held = held + q.amount FROM (SELECT run, sum(amount) AS amount FROM h GROUP BY run) q WHERE runs.id = q.run
    ), posted AS (
      INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
      SELECT h.org, o.ledger_sequence + row_number() OVER w, 'hold', -h.amount, o.balance - sum(h.amount) OVER w + h.amount, o.balance - sum(h.amount) OVER w,
        h.run, 'hold extended', 'run', now_
      FROM h JOIN organizations o ON o.id = h.org WINDOW w AS (PARTITION BY h.org ORDER BY h.i) RETURNING organization_id AS org, amount
    )
    UPDATE organizations o SET balance = balance + s.amount, ledger_sequence = ledger_sequence + s.n, updated_at = now_
    FROM (SELECT org, sum(amount) AS amount, count(*)::int AS n FROM posted GROUP BY org) s WHERE o.id = s.org;
  END IF;

  IF p_starts IS NOT NULL THEN
    -- The key of a repetition is claimed before anything is held; another process may have been faster.
    IF has_keys THEN
      WITH s AS (
        SELECT * FROM unnest(starts) WHERE idem IS NOT NULL AND verdicts[i + 1] = 'run' ORDER BY org, scope, idem
      ), mine AS (
        INSERT INTO idempotency_keys AS k (organization_id, scope, key, request_hash, run_id, response, created_at, expires_at)
        SELECT org, scope, idem, decode(hash, 'hex'), id, response, now_, now_ + interval '1 day' FROM s
        ON CONFLICT (organization_id, scope, key) DO UPDATE SET request_hash = EXCLUDED.request_hash, run_id = EXCLUDED.run_id, response = EXCLUDED.response,
          created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at WHERE k.expires_at <= now_
        RETURNING run_id)
      SELECT array_agg(i) AS again INTO r FROM s WHERE id NOT IN (SELECT run_id FROM mine);
      FOR n IN 1 .. coalesce(array_length(r.again, 1), 0) LOOP verdicts[r.again[n] + 1] := 'again'; END LOOP;
    END IF;

    FOR r IN SELECT org, count(*)::int AS wanted, array_agg(i ORDER BY i) AS items, array_agg(hold ORDER BY i) AS holds,
               array_agg(headroom ORDER BY i) AS headrooms
             FROM unnest(starts) WHERE verdicts[i + 1] = 'run' GROUP BY org ORDER BY org LOOP
      DECLARE o record; room int; BEGIN
        SELECT balance, suspended_at IS NOT NULL AS suspended, in_flight, concurrency, EXISTS (
            SELECT FROM runs WHERE organization_id = r.org AND status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL
          ) AS queued INTO o
        FROM organizations JOIN plans ON organization_id = id WHERE id = r.org;
        room := CASE WHEN o.queued THEN 0 ELSE greatest(0, least(slots, o.concurrency - o.in_flight)) END;
        used := 0;
        FOR n IN 1 .. r.wanted LOOP
          IF o.suspended THEN verdicts[r.items[n] + 1] := 'suspended';
          ELSIF o.balance < r.holds[n] THEN verdicts[r.items[n] + 1] := 'credits';
          ELSIF used >= room THEN verdicts[r.items[n] + 1] := 'wait'; o.balance := o.balance - r.holds[n];
          ELSE
            used := used + 1;
            o.balance := o.balance - r.holds[n];
            -- Credits for the whole first iteration, as long as the balance covers every start of this flush.
            IF o.balance >= r.headrooms[n] AND r.headrooms[n] > 0 THEN
              verdicts[r.items[n] + 1] := 'run+'; o.balance := o.balance - r.headrooms[n];
            END IF;
          END IF;
        END LOOP;
        slots := slots - used;
      END;
    END LOOP;
    IF has_documents THEN
      INSERT INTO configurations (organization_id, hash, document, created_at)
      SELECT DISTINCT ON (org, configuration) org, decode(configuration, 'hex'), document, now_
      FROM unnest(starts) WHERE document IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait')
      ON CONFLICT (organization_id, hash) DO NOTHING;
    END IF;
    WITH s AS (
      SELECT *, verdicts[i + 1] AS verdict, verdicts[i + 1] <> 'wait' AS begins FROM unnest(starts) WHERE verdicts[i + 1] IN ('run', 'run+', 'wait')
    ), started AS (
      INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source, trigger_id,
        api_key_id, user_id, root_run_id, input, held, max_credits, max_credits_of, created_at, deadline_seconds, started_at, admitted_at, claimed_by, epoch, sequence)
      SELECT id, org, kind, agent, tool, name, version, model, decode(configuration, 'hex'), CASE WHEN begins THEN 'Running' ELSE 'Pending' END::run_status,
        source, trigger, api_key, "user", id, input, CASE WHEN verdict = 'run+' THEN hold + headroom ELSE hold END, cap, cap_of, now_, deadline,
        CASE WHEN begins THEN now_ END, CASE WHEN begins THEN now_ END, CASE WHEN begins THEN p_worker END, begins::int, 1
      FROM s
    ), lines AS (
      SELECT org, i * 2 AS ord, id, -hold AS amount, 'run started' AS note, actor, begins::int AS slots FROM s
      UNION ALL SELECT org, i * 2 + 1, id, -headroom, 'hold extended', 'run', 0 FROM s WHERE verdict = 'run+'
    ), posted AS (
      INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
      SELECT l.org, o.ledger_sequence + row_number() OVER w, 'hold', l.amount, o.balance + sum(l.amount) OVER w - l.amount, o.balance + sum(l.amount) OVER w,
        l.id, l.note, l.actor, now_
      FROM lines l JOIN organizations o ON o.id = l.org WINDOW w AS (PARTITION BY l.org ORDER BY l.ord)
    )
    UPDATE organizations o SET balance = balance + p.amount, ledger_sequence = ledger_sequence + p.n, in_flight = in_flight + p.slots, updated_at = now_
    FROM (SELECT org, sum(amount) AS amount, count(*)::int AS n, sum(slots)::int AS slots FROM lines GROUP BY org) p WHERE o.id = p.org;
    IF has_deliveries THEN
      INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, headers, body, body_bytes, sender_id, redelivery_of, run_id)
      SELECT d.id, s.org, s.trigger, d.received_at, 'accepted', 200, d.headers, decode(d.body, 'base64'), octet_length(decode(d.body, 'base64')), d.sender,
        d.redelivery_of, s.id
      FROM unnest(starts) AS s, json_to_record(s.delivery) AS d (id uuid, received_at timestamptz, headers text, body text, sender text, redelivery_of uuid)
      WHERE s.delivery IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait');
    END IF;
    -- Starts that were refused keep no key.
    IF has_keys THEN
      DELETE FROM idempotency_keys k USING unnest(starts) AS s
      WHERE s.idem IS NOT NULL AND verdicts[s.i + 1] IN ('credits', 'suspended')
        AND k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.run_id = s.id;
    END IF;
  END IF;
  answer_ := json_build_object('at', now_, 'starts', verdicts, 'rates', rates, 'replays', replays, 'holds', holds, 'ended', ended)::text;
  UPDATE worker_lanes SET flush = p_flush, answer = answer_ WHERE worker_id = p_worker AND lane = p_lane;
  RETURN answer_;
END $$;
