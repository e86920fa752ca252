-- Counts an organization's runs of a period by interval: in total and by agent, tool, trigger and key. Computes all figures:
-- those stored in run_counts, and those of younger runs. Ids are generated within an hour of created_at.
CREATE FUNCTION count_runs(org uuid, since timestamptz, until timestamptz, step interval)
RETURNS TABLE (
  at timestamptz, dimension run_count_dimension, subject_id uuid, runs int, completed int, failed int, cancelled int,
  open int, tokens bigint, credits numeric, duration_classes smallint[], duration_runs int[]
) LANGUAGE sql STABLE ROWS 5000 AS $$
  WITH classed AS (
    SELECT date_bin(step, created_at, since) AS at, agent_id, tool_id, trigger_id, api_key_id,
      run_duration_class(finished_at - started_at) AS class, count(*) AS runs,
      count(*) FILTER (WHERE status = 'Completed') AS completed, count(*) FILTER (WHERE status = 'Failed') AS failed,
      count(*) FILTER (WHERE status = 'Cancelled') AS cancelled,
      sum(input_tokens::bigint + output_tokens) AS tokens, sum(credits_used) AS credits
    FROM runs
    WHERE organization_id = org AND created_at >= since AND created_at < until
      AND id >= run_id_floor(since - interval '1 hour') AND id < run_id_floor(until + interval '1 hour')
    GROUP BY 1, 2, 3, 4, 5, 6
    UNION ALL
    -- The usage of open runs is in their journals.
    SELECT date_bin(step, created_at, since), agent_id, tool_id, trigger_id, api_key_id, NULL, 0, 0, 0, 0,
      f.input_tokens::bigint + f.output_tokens, f.credits
    FROM runs r CROSS JOIN LATERAL open_run_figures(r.id, true) f
    WHERE organization_id = org AND created_at >= since AND created_at < until AND status IN ('Pending', 'Running')
  ), by_class AS (
    SELECT c.at, d.dimension::run_count_dimension, d.subject_id, c.class, sum(c.runs) AS runs, sum(c.completed) AS completed,
      sum(c.failed) AS failed, sum(c.cancelled) AS cancelled, sum(c.tokens) AS tokens, sum(c.credits) AS credits
    FROM classed c CROSS JOIN LATERAL (
      VALUES ('all', org), ('agent', agent_id), ('tool', tool_id), ('trigger', trigger_id), ('key', api_key_id)
    ) AS d (dimension, subject_id)
    WHERE d.subject_id IS NOT NULL
    GROUP BY 1, 2, 3, 4
  )
  SELECT b.at, b.dimension, b.subject_id, sum(b.runs)::int, sum(b.completed)::int, sum(b.failed)::int, sum(b.cancelled)::int,
    (sum(b.runs) - sum(b.completed) - sum(b.failed) - sum(b.cancelled))::int, sum(b.tokens)::bigint, sum(b.credits),
    array_agg(b.class) FILTER (WHERE b.class IS NOT NULL), array_agg(b.runs::int) FILTER (WHERE b.class IS NOT NULL)
  FROM by_class b GROUP BY 1, 2, 3
$$;
