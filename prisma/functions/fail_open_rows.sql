-- Whatever had started and not finished ends with its run. Its events get the next numbers.
CREATE FUNCTION fail_open_rows(now_ timestamptz, ended json, ends end_item[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record;
BEGIN
  FOR r IN SELECT e.run, e.status, e.sequence FROM json_to_recordset(ended) AS d (i int, failed boolean) JOIN unnest(ends) AS e USING (i) WHERE d.failed LOOP
    UPDATE steps SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this step had finished.', r.status),
      output = json_build_object('error', format('The run ended (%s) before this step had finished.', r.status))::text,
      duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence,
      finished_event = last.event + open.number
    FROM (SELECT id AS step, row_number() OVER (ORDER BY step_number)::int AS number FROM steps WHERE run_id = r.run AND status = 'Running') open,
      (SELECT greatest(max(greatest(started_event, finished_event)), (SELECT max(n) FROM run_events WHERE run_id = r.run)) AS event FROM steps WHERE run_id = r.run) last
    WHERE steps.id = open.step;
    UPDATE model_calls SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this call had finished.', r.status),
      duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence
    WHERE run_id = r.run AND status = 'Running';
  END LOOP;
END $$;
