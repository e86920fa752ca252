-- The engine: workers, the group-committed writer, rate counters, claims (docs/engine.md).
DROP SCHEMA IF EXISTS engine CASCADE;
DROP TABLE rate_windows;

-- One row per process that executes runs. A worker whose heartbeat is too old is deleted and its runs are given back.
CREATE TABLE "workers" (
    "id" TEXT NOT NULL,
    "heartbeat_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);
ALTER TABLE workers SET (fillfactor = 50);

-- A lane is one connection of a worker's writer. Each flush writes its number and its answer here in its own transaction:
-- the row fences flushes of a deleted worker, and tells after a lost connection whether the flush was committed.
CREATE TABLE "worker_lanes" (
    "worker_id" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "flush" BIGINT NOT NULL DEFAULT 0,
    "answer" TEXT,

    CONSTRAINT "worker_lanes_pkey" PRIMARY KEY ("worker_id", "lane")
);
ALTER TABLE "worker_lanes" ADD CONSTRAINT "worker_lanes_worker_id_fkey" FOREIGN KEY ("worker_id") REFERENCES "workers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE worker_lanes SET (fillfactor = 50);

-- An exact sliding window: `taken` counts all accepted calls of a key, a segment says how many had been accepted at a time.
CREATE TABLE "rate_counters" (
    "key" TEXT NOT NULL,
    "taken" BIGINT NOT NULL,
    "seconds" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_counters_pkey" PRIMARY KEY ("key")
);
CREATE TABLE "rate_segments" (
    "key" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "upto" BIGINT NOT NULL,

    CONSTRAINT "rate_segments_pkey" PRIMARY KEY ("key", "at", "upto")
);
ALTER TABLE rate_counters SET (fillfactor = 50);

-- Runs: the row is written at the start and at the end; in between the journal (steps, model_calls) is the truth.
ALTER TABLE organizations ADD COLUMN "in_flight" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE organizations SET (fillfactor = 50);
ALTER TABLE organizations ADD CONSTRAINT organizations_in_flight CHECK (in_flight >= 0);
DROP INDEX runs_to_admit;
ALTER TABLE runs DROP COLUMN waiting_since, DROP COLUMN heartbeat_at;
ALTER TABLE runs RENAME COLUMN gave_back_at TO yielded_at;
ALTER TABLE runs RENAME COLUMN regained_at TO resumed_at;
ALTER TABLE runs SET (fillfactor = 80);
CREATE INDEX runs_waiting ON runs (organization_id, id) WHERE status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL;
CREATE INDEX runs_claimed ON runs (claimed_by) WHERE status IN ('Pending', 'Running') AND claimed_by IS NOT NULL;
CREATE INDEX runs_handed_over ON runs (admitted_at) WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL;
CREATE INDEX runs_cancelling ON runs (id) WHERE status IN ('Pending', 'Running') AND cancel_requested_at IS NOT NULL;

-- Takes up to `wanted` calls from the window of a key; returns how many were granted, how many are left, and in how many
-- seconds the oldest counted call leaves the window. Call number n is free again when call n - limit is older than the window.
-- `at`: the test clock's time; null in production. Times of one key only grow: they are read under the counter's lock.
CREATE FUNCTION take_rate(k text, wanted int, lim int, secs int, at_ timestamptz, OUT granted int, OUT remaining int, OUT reset_seconds int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE t bigint; now_ timestamptz(3); gone bigint; oldest timestamptz;
BEGIN
  SELECT taken INTO t FROM rate_counters WHERE key = k FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO rate_counters (key, taken, seconds, updated_at) VALUES (k, 0, secs, coalesce(at_, clock_timestamp())) ON CONFLICT DO NOTHING;
    SELECT taken INTO t FROM rate_counters WHERE key = k FOR UPDATE;
  END IF;
  now_ := coalesce(at_, clock_timestamp());
  SELECT upto INTO gone FROM rate_segments WHERE key = k AND at <= now_ - make_interval(secs => secs) ORDER BY at DESC, upto DESC LIMIT 1;
  granted := greatest(0, least(wanted, lim - (t - coalesce(gone, 0))));
  IF granted > 0 THEN
    INSERT INTO rate_segments (key, at, upto) VALUES (k, now_, t + granted);
    UPDATE rate_counters SET taken = t + granted, seconds = secs, updated_at = now_ WHERE key = k;
  END IF;
  SELECT at INTO oldest FROM rate_segments WHERE key = k AND at > now_ - make_interval(secs => secs) ORDER BY at LIMIT 1;
  remaining := greatest(0, lim - (t + granted - coalesce(gone, 0)));
  reset_seconds := greatest(1, ceil(extract(epoch FROM coalesce(oldest, now_) - now_) + secs))::int;
END $$;

-- One flush of a worker's lane: everything that was queued, in one transaction. Locks are taken in one order everywhere:
-- lane, rate counters, organizations, runs; each kind sorted. The answer is returned and kept in the lane's row.
CREATE FUNCTION flush_writes(
  p_worker text, p_lane text, p_flush bigint, p_at timestamptz, p_slots int,
  p_children json, p_calls json, p_steps json, p_refusals json, p_ends json, p_holds json, p_starts json
) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  now_ timestamptz(3);
  r record;
  n int;
  used int;
  slots int := p_slots;
  org_balance numeric;
  verdicts text[];
  refusals text[];
  holds text[];
  replays json;
  rates json;
  kept json[] := '{}';
  ended json;
  answer_ text;
BEGIN
  UPDATE worker_lanes SET flush = p_flush, answer = NULL WHERE worker_id = p_worker AND lane = p_lane AND flush = p_flush - 1;
  IF NOT FOUND THEN
    IF EXISTS (SELECT FROM worker_lanes WHERE worker_id = p_worker AND lane = p_lane) THEN
      RAISE EXCEPTION 'flush % of lane % was written before', p_flush, p_lane USING ERRCODE = 'SW002';
    END IF;
    RAISE EXCEPTION 'worker % was replaced', p_worker USING ERRCODE = 'SW001';
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
    INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, status, content, tool_calls, finish_reason,
      input_tokens, output_tokens, estimated, credits, error_message, attempts, started_at, finished_at, duration_ms, sequence)
    SELECT id, org, run, key, iteration, provider, model, status, content, tool_calls, finish_reason, input_tokens, output_tokens, estimated, credits,
      error, attempts, started_at, CASE WHEN status <> 'Running' THEN started_at + make_interval(secs => duration / 1000.0) END, duration, sequence
    FROM json_to_recordset(p_calls) AS c (id uuid, org uuid, run uuid, key text, iteration int, provider text, model text, status step_status, content text,
      tool_calls text, finish_reason text, input_tokens int, output_tokens int, estimated boolean, credits numeric, error text, attempts text,
      started_at timestamptz, duration int, sequence int)
    ON CONFLICT (run_id, key) DO UPDATE SET provider = EXCLUDED.provider, status = EXCLUDED.status, content = EXCLUDED.content, tool_calls = EXCLUDED.tool_calls,
      finish_reason = EXCLUDED.finish_reason, estimated = EXCLUDED.estimated,
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
  IF p_refusals IS NULL AND p_ends IS NULL AND p_holds IS NULL AND p_starts IS NULL THEN RETURN NULL; END IF;

  -- Rate limits and repetitions, of starts and of calls that are refused for another reason.
  verdicts := array_fill('run'::text, ARRAY[coalesce(json_array_length(p_starts), 0)]);
  refusals := array_fill('refuse'::text, ARRAY[coalesce(json_array_length(p_refusals), 0)]);
  SELECT json_agg(q) INTO replays FROM (
    SELECT s.start, s.i, k.run_id AS run, k.response, k.request_hash = decode(s.hash, 'hex') AS same, s.replay_first
    FROM (SELECT true AS start, i, org, scope, idem, hash, replay_first
          FROM json_to_recordset(p_starts) AS s (i int, org uuid, scope text, idem text, hash text, replay_first boolean) WHERE idem IS NOT NULL
          UNION ALL
          SELECT false, i, org, scope, idem, hash, replay_first
          FROM json_to_recordset(p_refusals) AS f (i int, org uuid, scope text, idem text, hash text, replay_first boolean) WHERE idem IS NOT NULL) s
    JOIN idempotency_keys k ON k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.expires_at > now_) q;
  IF replays IS NOT NULL THEN
    FOR r IN SELECT * FROM json_to_recordset(replays) AS p (start boolean, i int, run uuid, response text, same boolean, replay_first boolean) LOOP
      IF r.start THEN verdicts[r.i + 1] := CASE WHEN r.same THEN 'replay' ELSE 'conflict' END;
      ELSE refusals[r.i + 1] := CASE WHEN r.same THEN 'replay' ELSE 'conflict' END; END IF;
    END LOOP;
  END IF;
  -- Calls with an unlimited rate have no key here. A webhook's repetition comes before its limit and does not count.
  FOR r IN
    SELECT rate_key, min(rate_limit) AS rate_limit, min(rate_seconds) AS rate_seconds, count(*)::int AS wanted,
      array_agg(i ORDER BY start, i) AS items, array_agg(start ORDER BY start, i) AS are_starts
    FROM (SELECT true AS start, i, rate_key, rate_limit, rate_seconds, replay_first, verdicts[i + 1] AS verdict
          FROM json_to_recordset(p_starts) AS s (i int, rate_key text, rate_limit int, rate_seconds int, replay_first boolean)
          UNION ALL
          SELECT false, i, rate_key, rate_limit, rate_seconds, replay_first, refusals[i + 1]
          FROM json_to_recordset(p_refusals) AS f (i int, rate_key text, rate_limit int, rate_seconds int, replay_first boolean)) q
    WHERE rate_key IS NOT NULL AND NOT (replay_first AND verdict IN ('replay', 'conflict'))
    GROUP BY rate_key ORDER BY rate_key
  LOOP
    DECLARE taken record; BEGIN
      taken := take_rate(r.rate_key, r.wanted, r.rate_limit, r.rate_seconds, p_at);
      kept := kept || json_build_object('key', r.rate_key, 'remaining', taken.remaining, 'reset', taken.reset_seconds);
      FOR n IN taken.granted + 1 .. r.wanted LOOP
        IF r.are_starts[n] THEN verdicts[r.items[n] + 1] := 'rate'; ELSE refusals[r.items[n] + 1] := 'rate'; END IF;
      END LOOP;
    END;
  END LOOP;
  rates := array_to_json(kept);

  -- From here on organizations change: all that this flush touches are locked in one order.
  PERFORM 1 FROM organizations WHERE id IN (
    SELECT org FROM json_to_recordset(p_ends) AS e (org uuid)
    UNION SELECT org FROM json_to_recordset(p_holds) AS h (org uuid)
    UNION SELECT org FROM json_to_recordset(p_starts) AS s (i int, org uuid) WHERE verdicts[i + 1] = 'run'
  ) ORDER BY id FOR NO KEY UPDATE;

  -- Ends come before holds and starts: they free credits and slots.
  IF p_ends IS NOT NULL THEN
    WITH e AS (
      SELECT * FROM json_to_recordset(p_ends) AS e (i int, run uuid, org uuid, epoch int, unclaimed boolean, status run_status, output text, code text,
        message text, cancelled_by text, input_tokens int, output_tokens int, actions int, steps int, credits numeric, note text, sequence int)
    ), done AS (
      UPDATE runs SET status = e.status, finished_at = now_, output = e.output, error_code = e.code, error_message = e.message,
        cancelled_by = coalesce(e.cancelled_by, runs.cancelled_by), input_tokens = e.input_tokens, output_tokens = e.output_tokens, actions_used = e.actions,
        steps_executed = e.steps, credits_used = e.credits, held = 0, sequence = e.sequence
      FROM e JOIN runs was ON was.id = e.run
      WHERE runs.id = e.run AND runs.epoch = e.epoch AND runs.status IN ('Pending', 'Running')
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
    SELECT json_agg(json_build_object('i', i, 'root', root, 'child', root <> id, 'credits', credits, 'failed', status <> 'Completed')) INTO ended FROM done;
    IF EXISTS (SELECT FROM json_to_recordset(ended) AS d (child boolean) WHERE child) THEN
      UPDATE runs SET held = held - d.credits
      FROM (SELECT root, sum(credits) AS credits FROM json_to_recordset(ended) AS d (root uuid, child boolean, credits numeric) WHERE child GROUP BY root) d
      WHERE runs.id = d.root AND d.credits > 0;
    END IF;
    -- Whatever had begun and not finished ends with its run.
    FOR r IN SELECT e.run, e.status, e.sequence FROM json_to_recordset(ended) AS d (i int, failed boolean)
             JOIN json_to_recordset(p_ends) AS e (i int, run uuid, status text, sequence int) USING (i) WHERE d.failed LOOP
      UPDATE steps SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this step had finished.', r.status),
        output = json_build_object('error', format('The run ended (%s) before this step had finished.', r.status))::text,
        duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence
      WHERE run_id = r.run AND status = 'Running';
      UPDATE model_calls SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this call had finished.', r.status),
        duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence
      WHERE run_id = r.run AND status = 'Running';
    END LOOP;
    -- After a fault of the platform nothing is charged: what ended children of the run were charged is refunded.
    FOR r IN
      WITH RECURSIVE tree AS (
        SELECT e.run AS root, e.run AS id, e.org FROM json_to_recordset(ended) AS d (i int)
        JOIN json_to_recordset(p_ends) AS e (i int, run uuid, org uuid, refund boolean) USING (i) WHERE e.refund
        UNION ALL SELECT tree.root, c.id, tree.org FROM runs c JOIN tree ON c.parent_run_id = tree.id)
      SELECT tree.org, c.run_id, -sum(c.amount) FILTER (WHERE c.kind = 'charge') AS charged
      FROM tree JOIN credit_entries c ON c.run_id = tree.id AND c.organization_id = tree.org
      WHERE EXISTS (SELECT FROM json_to_recordset(p_ends) AS e (refund boolean) WHERE refund)
      GROUP BY tree.org, c.run_id HAVING sum(c.amount) FILTER (WHERE c.kind = 'charge') < 0 AND NOT bool_or(c.kind = 'refund') ORDER BY min(c.sequence)
    LOOP
      UPDATE organizations SET balance = balance + r.charged, ledger_sequence = ledger_sequence + 1 WHERE id = r.org;
      INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
      SELECT r.org, ledger_sequence, 'refund', r.charged, balance - r.charged, balance, r.run_id, 'the calling run ended by a fault of the platform', 'run', now_
      FROM organizations WHERE id = r.org;
    END LOOP;
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
    WITH s AS (
      SELECT * FROM json_to_recordset(p_starts) AS s (i int, id uuid, org uuid, scope text, idem text, hash text, response text)
      WHERE idem IS NOT NULL AND verdicts[i + 1] = 'run' ORDER BY org, scope, idem
    ), mine AS (
      INSERT INTO idempotency_keys AS k (organization_id, scope, key, request_hash, run_id, response, created_at, expires_at)
      SELECT org, scope, idem, decode(hash, 'hex'), id, response, now_, now_ + interval '1 day' FROM s
      ON CONFLICT (organization_id, scope, key) DO UPDATE SET request_hash = EXCLUDED.request_hash, run_id = EXCLUDED.run_id, response = EXCLUDED.response,
        created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at WHERE k.expires_at <= now_
      RETURNING run_id)
    SELECT array_agg(i) AS again INTO r FROM s WHERE id NOT IN (SELECT run_id FROM mine);
    FOR n IN 1 .. coalesce(array_length(r.again, 1), 0) LOOP verdicts[r.again[n] + 1] := 'again'; END LOOP;

    FOR r IN SELECT s.org, sum(hold + headroom) AS total, count(*)::int AS wanted, array_agg(i ORDER BY i) AS items,
               array_agg(hold ORDER BY i) AS holds, array_agg(headroom ORDER BY i) AS headrooms
             FROM json_to_recordset(p_starts) AS s (i int, org uuid, hold numeric, headroom numeric) WHERE verdicts[i + 1] = 'run' GROUP BY s.org ORDER BY s.org LOOP
      DECLARE o record; room int; BEGIN
        SELECT balance, suspended_at IS NOT NULL AS suspended, in_flight, concurrency INTO o
        FROM organizations JOIN plans ON organization_id = id WHERE id = r.org;
        room := CASE WHEN slots <= 0 OR o.in_flight >= o.concurrency OR EXISTS (
            SELECT FROM runs WHERE organization_id = r.org AND status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL)
          THEN 0 ELSE least(slots, o.concurrency - o.in_flight) END;
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
        IF used > 0 THEN UPDATE organizations SET in_flight = in_flight + used WHERE id = r.org; END IF;
      END;
    END LOOP;
    WITH s AS (
      SELECT * FROM json_to_recordset(p_starts) AS s (i int, org uuid, hash text, document text) WHERE document IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait'))
    INSERT INTO configurations (organization_id, hash, document, created_at)
    SELECT DISTINCT ON (org, hash) org, decode(hash, 'hex'), document, now_ FROM (
      SELECT i, org, configuration AS hash, document FROM json_to_recordset(p_starts) AS s (i int, org uuid, configuration text, document text)) s
    WHERE document IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait')
    ON CONFLICT (organization_id, hash) DO NOTHING;
    WITH s AS (
      SELECT *, verdicts[i + 1] AS verdict FROM json_to_recordset(p_starts) AS s (i int, id uuid, org uuid, kind run_kind, agent uuid, tool uuid, name text,
        version int, model text, configuration text, source run_source, trigger uuid, api_key uuid, "user" uuid, input text, hold numeric, headroom numeric,
        cap numeric, cap_of text, deadline int, actor text, delivery json)
      WHERE verdicts[i + 1] IN ('run', 'run+', 'wait')
    ), started AS (
      INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source, trigger_id,
        api_key_id, user_id, root_run_id, input, held, max_credits, max_credits_of, created_at, deadline_seconds, started_at, admitted_at, claimed_by, epoch, sequence)
      SELECT id, org, kind, agent, tool, name, version, model, decode(configuration, 'hex'), CASE WHEN verdict = 'wait' THEN 'Pending' ELSE 'Running' END::run_status,
        source, trigger, api_key, "user", id, input, CASE WHEN verdict = 'run+' THEN hold + headroom ELSE hold END, cap, cap_of, now_, deadline,
        CASE WHEN verdict <> 'wait' THEN now_ END, CASE WHEN verdict <> 'wait' THEN now_ END, CASE WHEN verdict <> 'wait' THEN p_worker END,
        CASE WHEN verdict <> 'wait' THEN 1 ELSE 0 END, 1
      FROM s
    ), lines AS (
      SELECT org, i * 2 AS ord, id, -hold AS amount, 'run started' AS note, actor FROM s
      UNION ALL SELECT org, i * 2 + 1, id, -headroom, 'hold extended', 'run' FROM s WHERE verdict = 'run+'
    ), posted AS (
      INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
      SELECT l.org, o.ledger_sequence + row_number() OVER w, 'hold', l.amount, o.balance + sum(l.amount) OVER w - l.amount, o.balance + sum(l.amount) OVER w,
        l.id, l.note, l.actor, now_
      FROM lines l JOIN organizations o ON o.id = l.org WINDOW w AS (PARTITION BY l.org ORDER BY l.ord) RETURNING organization_id AS org, amount
    ), delivered AS (
      INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, headers, body, body_bytes, sender_id, redelivery_of, run_id)
      SELECT d.id, s.org, s.trigger, d.received_at, 'accepted', 200, d.headers, decode(d.body, 'base64'), octet_length(decode(d.body, 'base64')), d.sender,
        d.redelivery_of, s.id
      FROM s, json_to_record(s.delivery) AS d (id uuid, received_at timestamptz, headers text, body text, sender text, redelivery_of uuid)
      WHERE s.delivery IS NOT NULL
    )
    UPDATE organizations o SET balance = balance + p.amount, ledger_sequence = ledger_sequence + p.n, updated_at = now_
    FROM (SELECT org, sum(amount) AS amount, count(*)::int AS n FROM posted GROUP BY org) p WHERE o.id = p.org;
    -- Starts that were refused keep no key.
    DELETE FROM idempotency_keys k USING (
      SELECT id, org, scope, idem FROM json_to_recordset(p_starts) AS s (i int, id uuid, org uuid, scope text, idem text)
      WHERE idem IS NOT NULL AND verdicts[i + 1] IN ('credits', 'suspended')) s
    WHERE k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.run_id = s.id;
  END IF;
  answer_ := json_build_object('at', now_, 'starts', verdicts, 'refusals', refusals, 'rates', rates, 'replays', replays, 'holds', holds, 'ended', ended)::text;
  UPDATE worker_lanes SET answer = answer_ WHERE worker_id = p_worker AND lane = p_lane;
  RETURN answer_;
END $$;

-- Gives waiting runs slots: organization by organization, fewest in flight first, oldest first within one, as far as plans
-- allow. The runs are claimed by `p_worker`; without one they are handed over to an Inngest server, whose calls claim them.
CREATE FUNCTION claim_waiting_runs(p_worker text, p_slots int, p_at timestamptz)
RETURNS TABLE (run uuid, run_kind run_kind, run_epoch int, run_segment int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now_ timestamptz(3); chosen uuid[]; orgs uuid[];
BEGIN
  IF p_worker IS NOT NULL THEN
    PERFORM 1 FROM workers w WHERE w.id = p_worker FOR KEY SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'worker % was replaced', p_worker USING ERRCODE = 'SW001'; END IF;
  END IF;
  WITH RECURSIVE waiting AS (
    (SELECT organization_id FROM runs WHERE status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.organization_id FROM runs r WHERE r.status IN ('Pending', 'Running') AND r.admitted_at IS NULL AND r.parent_run_id IS NULL
              AND r.organization_id > w.organization_id ORDER BY r.organization_id LIMIT 1)
    FROM waiting w WHERE w.organization_id IS NOT NULL)
  SELECT array_agg(w.organization_id) INTO orgs FROM waiting w JOIN organizations o ON o.id = w.organization_id JOIN plans p ON p.organization_id = o.id
  WHERE o.in_flight < p.concurrency;
  IF orgs IS NULL THEN RETURN; END IF;
  PERFORM 1 FROM organizations o WHERE o.id = ANY(orgs) ORDER BY o.id FOR NO KEY UPDATE;
  now_ := coalesce(p_at, clock_timestamp());
  SELECT array_agg(id) INTO chosen FROM (
    SELECT c.id FROM (
      SELECT r.id, o.in_flight + row_number() OVER (PARTITION BY o.id ORDER BY r.id) AS turn
      FROM organizations o JOIN plans p ON p.organization_id = o.id CROSS JOIN LATERAL (
        SELECT q.id FROM runs q WHERE q.organization_id = o.id AND q.status IN ('Pending', 'Running') AND q.admitted_at IS NULL AND q.parent_run_id IS NULL
          AND q.cancel_requested_at IS NULL
        ORDER BY q.id LIMIT greatest(0, least(p_slots, p.concurrency - o.in_flight))) r
      WHERE o.id = ANY(orgs)) c
    ORDER BY c.turn, c.id LIMIT p_slots) q;
  IF chosen IS NULL THEN RETURN; END IF;
  RETURN QUERY
    WITH claimed AS (
      UPDATE runs SET admitted_at = now_, sequence = runs.sequence + 1,
        claimed_by = p_worker, epoch = runs.epoch + CASE WHEN p_worker IS NULL THEN 0 ELSE 1 END,
        status = CASE WHEN p_worker IS NULL THEN runs.status ELSE 'Running' END,
        started_at = CASE WHEN p_worker IS NULL THEN runs.started_at ELSE coalesce(runs.started_at, now_) END,
        resumed_at = CASE WHEN cardinality(runs.resumed_at) < cardinality(runs.yielded_at) THEN runs.resumed_at || now_ ELSE runs.resumed_at END
      WHERE runs.id = ANY(chosen) AND runs.status IN ('Pending', 'Running') AND runs.admitted_at IS NULL AND runs.cancel_requested_at IS NULL
      RETURNING runs.id, runs.organization_id, runs.kind, runs.epoch, cardinality(runs.yielded_at) + 1 AS segment
    ), counted AS (
      UPDATE organizations o SET in_flight = o.in_flight + c.n FROM (SELECT organization_id, count(*)::int AS n FROM claimed GROUP BY 1) c WHERE o.id = c.organization_id
    )
    SELECT c.id, c.kind, c.epoch, c.segment FROM claimed c;
END $$;

-- Deletes a worker and gives its runs back. Waits for flushes in progress, which hold the worker's lanes. `p_wait`: runs of an
-- embedded engine wait for a slot again; those of an Inngest server keep it, since the server calls them again.
CREATE FUNCTION remove_worker(p_worker text, p_wait boolean) RETURNS int LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE n int;
BEGIN
  DELETE FROM workers WHERE id = p_worker;
  IF NOT FOUND THEN RETURN 0; END IF;
  PERFORM 1 FROM organizations WHERE id IN (SELECT organization_id FROM runs WHERE claimed_by = p_worker AND status IN ('Pending', 'Running'))
  ORDER BY id FOR NO KEY UPDATE;
  WITH freed AS (
    UPDATE runs SET claimed_by = NULL, admitted_at = CASE WHEN p_wait AND parent_run_id IS NULL THEN NULL ELSE admitted_at END
    WHERE claimed_by = p_worker AND status IN ('Pending', 'Running') RETURNING organization_id, parent_run_id
  ), counted AS (
    UPDATE organizations o SET in_flight = in_flight - f.n
    FROM (SELECT organization_id, count(*)::int AS n FROM freed WHERE parent_run_id IS NULL GROUP BY 1) f WHERE p_wait AND o.id = f.organization_id
  )
  SELECT count(*) INTO n FROM freed;
  RETURN n;
END $$;

-- Processes cache what requests read of an organization's configuration. Whatever changes it notifies them with the
-- organization's id (server/db/configuration-cache.ts).
CREATE FUNCTION notify_configuration() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed record; org uuid;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  IF TG_TABLE_NAME = 'organizations' THEN org := changed.id; ELSE org := changed.organization_id; END IF;
  PERFORM pg_notify('stepwell_configuration', org::text);
  RETURN NULL;
END $$;
CREATE FUNCTION notify_configuration_of_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed record; org uuid;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  SELECT organization_id INTO org FROM triggers WHERE id = changed.trigger_id;
  IF org IS NOT NULL THEN PERFORM pg_notify('stepwell_configuration', org::text); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER notify_configuration AFTER UPDATE OF suspended_at, name ON organizations FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration_gone AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON plans FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER DELETE OR UPDATE OF name, scopes, target_ids, starts_per_minute, reads_per_minute, max_credits, expires_at, revoked_at
  ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON agents FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON tools FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON triggers FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON trigger_secrets FOR EACH ROW EXECUTE FUNCTION notify_configuration_of_trigger();

-- What an open run has used so far, summed from its journal; nulls for an ended run, whose own row says it.
CREATE FUNCTION open_run_figures(
  run uuid, is_open boolean, OUT steps int, OUT actions int, OUT input_tokens int, OUT output_tokens int, OUT credits numeric, OUT sequence int
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE c record;
BEGIN
  IF NOT is_open THEN RETURN; END IF;
  SELECT count(*) FILTER (WHERE s.status <> 'Running'), coalesce(sum(s.actions), 0), coalesce(sum(s.credits), 0), coalesce(max(s.sequence), 0)
  INTO steps, actions, credits, sequence FROM steps s WHERE s.run_id = run;
  SELECT coalesce(sum(m.input_tokens), 0) AS input_tokens, coalesce(sum(m.output_tokens), 0) AS output_tokens, coalesce(sum(m.credits), 0) AS credits,
    coalesce(max(m.sequence), 0) AS sequence
  INTO c FROM model_calls m WHERE m.run_id = run;
  input_tokens := c.input_tokens;
  output_tokens := c.output_tokens;
  credits := credits + c.credits;
  sequence := greatest(sequence, c.sequence);
END $$;
