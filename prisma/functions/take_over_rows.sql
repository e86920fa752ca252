-- Writes what forks take over from their origins: finished, without usage, and with the sequence of the start.
CREATE FUNCTION take_over_rows(now_ timestamptz, starts start_item[], verdicts text[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record; written int; total int;
BEGIN
  FOR r IN SELECT id, org, fork::json AS fork FROM unnest(starts) WHERE fork IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait') LOOP
    INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, status, content, reasoning, tool_calls, state_sealed,
      finish_reason, started_at, finished_at, duration_ms, sequence)
    SELECT t.id, r.org, r.id, c.key, c.iteration_number, c.provider, c.model, c.status, c.content, c.reasoning, coalesce(t.tool_calls, c.tool_calls),
      t.state::bytea, c.finish_reason, now_, now_, 0, 1
    FROM json_to_recordset(r.fork -> 'calls') AS t (id uuid, key text, tool_calls text, state text)
    JOIN model_calls c ON c.run_id = (r.fork ->> 'run')::uuid AND c.key = t.key AND c.organization_id = r.org;
    GET DIAGNOSTICS total = ROW_COUNT;
    INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, status, input, output, reasoning, error_message,
      started_at, finished_at, duration_ms, sequence)
    SELECT t.id, r.org, r.id, s.key, s.step_number, s.iteration_number, s.tool_name, CASE WHEN t.output IS NULL THEN s.status ELSE 'Completed' END, s.input,
      coalesce(t.output, s.output), s.reasoning, CASE WHEN t.output IS NULL THEN s.error_message END, now_, now_, 0, 1
    FROM json_to_recordset(r.fork -> 'steps') AS t (id uuid, key text, output text)
    JOIN steps s ON s.run_id = (r.fork ->> 'run')::uuid AND s.key = t.key AND s.organization_id = r.org;
    GET DIAGNOSTICS written = ROW_COUNT;
    total := total + written;
    -- Retention may delete the origin at the same time.
    IF total < json_array_length(r.fork -> 'calls') + json_array_length(r.fork -> 'steps') THEN
      RAISE EXCEPTION 'the origin of fork % was deleted', r.id USING ERRCODE = 'SW003';
    END IF;
  END LOOP;
END $$;
