-- Creates the runs of accepted starts, and holds their credits and slots.
CREATE FUNCTION post_starts(p_worker text, now_ timestamptz, starts start_item[], verdicts text[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE s start_item; verdict text; lines ledger_line[] := '{}';
BEGIN
  INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source, trigger_id,
    schedule_id, api_key_id, user_id, root_run_id, input, held, max_credits, max_credits_of, metadata, callback_url, trace_parent, created_at, deadline_seconds,
    started_at, admitted_at, claimed_by, epoch, sequence, forked_from, fork_step, fork_mode)
  SELECT id, org, kind, agent, tool, name, version, model, decode(configuration, 'hex'), CASE WHEN begins THEN 'Running' ELSE 'Pending' END::run_status, source, trigger,
    schedule, api_key, "user", id, input, CASE WHEN verdicts[i + 1] = 'run+' THEN hold + headroom ELSE hold END, cap, cap_of, metadata, callback_url, trace_parent, now_, deadline,
    CASE WHEN begins THEN now_ END, CASE WHEN begins THEN now_ END, CASE WHEN begins THEN p_worker END, begins::int, 1, (fork::json ->> 'run')::uuid,
    (fork::json ->> 'step')::int, (fork::json ->> 'tools')::fork_mode
  FROM (SELECT *, verdicts[i + 1] <> 'wait' AS begins FROM unnest(starts) WHERE verdicts[i + 1] IN ('run', 'run+', 'wait')) s;
  IF NOT FOUND THEN RETURN; END IF;
  FOREACH s IN ARRAY starts LOOP
    verdict := verdicts[s.i + 1];
    CONTINUE WHEN verdict NOT IN ('run', 'run+', 'wait');
    lines := lines || ROW(s.org, s.id, 'hold', -s.hold, 'run started', s.actor, (verdict <> 'wait')::int)::ledger_line;
    IF verdict = 'run+' THEN lines := lines || ROW(s.org, s.id, 'hold', -s.headroom, 'hold extended', 'run', 0)::ledger_line; END IF;
  END LOOP;
  PERFORM post_lines(now_, lines);
END $$;
