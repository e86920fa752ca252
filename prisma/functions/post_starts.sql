-- Creates the runs of accepted starts, and holds their credits and slots.
CREATE FUNCTION post_starts(p_worker text, now_ timestamptz, starts start_item[], verdicts text[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  WITH s AS (
    SELECT *, verdicts[i + 1] AS verdict, verdicts[i + 1] <> 'wait' AS begins FROM unnest(starts) WHERE verdicts[i + 1] IN ('run', 'run+', 'wait')
  ), started AS (
    INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source, trigger_id,
      schedule_id, api_key_id, user_id, root_run_id, input, held, max_credits, max_credits_of, metadata, callback_url, trace_parent, created_at, deadline_seconds, started_at,
      admitted_at, claimed_by, epoch, sequence, forked_from, fork_step, fork_mode)
    SELECT id, org, kind, agent, tool, name, version, model, decode(configuration, 'hex'), CASE WHEN begins THEN 'Running' ELSE 'Pending' END::run_status,
      source, trigger, schedule, api_key, "user", id, input, CASE WHEN verdict = 'run+' THEN hold + headroom ELSE hold END, cap, cap_of, metadata, callback_url,
      trace_parent, now_, deadline, CASE WHEN begins THEN now_ END, CASE WHEN begins THEN now_ END, CASE WHEN begins THEN p_worker END, begins::int, 1,
      (fork::json ->> 'run')::uuid, (fork::json ->> 'step')::int, (fork::json ->> 'tools')::fork_mode
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
END $$;
