-- Counts an organization's runs of a period by interval: in total and by agent, tool, trigger, key and schedule. Computes all figures:
-- those stored in run_counts, and those of younger runs. Ids are generated within an hour of created_at. Runs of drafts
-- count as drafts only. credits_below: what runs called by those of a subject used, at any depth.
CREATE FUNCTION count_runs(org uuid, since timestamptz, until timestamptz, step interval)
RETURNS TABLE (
  at timestamptz, dimension run_count_dimension, subject_id uuid, runs int, completed int, failed int, cancelled int,
  open int, tokens bigint, credits numeric, duration_classes smallint[], duration_runs int[], children int, drafts int,
  draft_credits numeric, credits_below numeric, children_failed int
) LANGUAGE sql STABLE ROWS 5000 AS $$
  WITH RECURSIVE classed AS (
    SELECT date_bin(step, created_at, since) AS at, agent_id, tool_id, trigger_id, api_key_id, schedule_id,
      CASE WHEN source <> 'draft' THEN run_duration_class(finished_at - started_at) END AS class,
      count(*) FILTER (WHERE source <> 'draft') AS runs,
      count(*) FILTER (WHERE status = 'Completed' AND source <> 'draft') AS completed,
      count(*) FILTER (WHERE status = 'Failed' AND source <> 'draft') AS failed,
      count(*) FILTER (WHERE status = 'Cancelled' AND source <> 'draft') AS cancelled,
      sum(input_tokens::bigint + output_tokens) FILTER (WHERE source <> 'draft') AS tokens,
      sum(credits_used) FILTER (WHERE source <> 'draft') AS credits, count(*) FILTER (WHERE source = 'run') AS children,
      count(*) FILTER (WHERE source = 'run' AND status = 'Failed') AS children_failed,
      count(*) FILTER (WHERE source = 'draft') AS drafts, sum(credits_used) FILTER (WHERE source = 'draft') AS draft_credits
    FROM runs
    WHERE organization_id = org AND created_at >= since AND created_at < until
      AND id >= run_id_floor(since - interval '1 hour') AND id < run_id_floor(until + interval '1 hour')
    GROUP BY 1, 2, 3, 4, 5, 6, 7
    UNION ALL
    -- The usage of open runs is in their journals.
    SELECT date_bin(step, created_at, since), agent_id, tool_id, trigger_id, api_key_id, schedule_id, NULL, 0, 0, 0, 0,
      CASE WHEN source <> 'draft' THEN f.input_tokens::bigint + f.output_tokens END,
      CASE WHEN source <> 'draft' THEN f.credits END, 0, 0, 0, CASE WHEN source = 'draft' THEN f.credits END
    FROM runs r CROSS JOIN LATERAL open_run_figures(r.id, true) f
    WHERE organization_id = org AND created_at >= since AND created_at < until AND status IN ('Pending', 'Running')
  ), called AS (
    -- Each child run with each run above it.
    SELECT date_bin(step, created_at, since) AS at, id, coalesce(agent_id, tool_id) AS target_id, parent_run_id AS above,
      CASE WHEN finished_at IS NULL THEN (SELECT f.credits FROM open_run_figures(runs.id, true) f) ELSE credits_used END AS credits
    FROM runs
    WHERE organization_id = org AND created_at >= since AND created_at < until AND source = 'run'
      AND id >= run_id_floor(since - interval '1 hour') AND id < run_id_floor(until + interval '1 hour')
    UNION ALL
    SELECT c.at, c.id, c.target_id, p.parent_run_id, c.credits FROM called c JOIN runs p ON p.id = c.above WHERE p.parent_run_id IS NOT NULL
  ), below AS (
    -- A subject may be above a run several times, or be its own target: that is counted once, or already.
    SELECT DISTINCT c.at, c.id, c.credits, d.dimension, d.subject_id
    FROM called c JOIN runs p ON p.id = c.above CROSS JOIN LATERAL (
      VALUES ('agent', p.agent_id), ('tool', p.tool_id), ('trigger', p.trigger_id), ('key', p.api_key_id), ('schedule', p.schedule_id)
    ) AS d (dimension, subject_id)
    WHERE d.subject_id IS NOT NULL AND d.subject_id <> c.target_id AND c.credits > 0 AND p.source <> 'draft'
  ), by_class AS (
    SELECT c.at, d.dimension::run_count_dimension, d.subject_id, c.class, sum(c.runs) AS runs, sum(c.completed) AS completed,
      sum(c.failed) AS failed, sum(c.cancelled) AS cancelled, sum(c.tokens) AS tokens, sum(c.credits) AS credits,
      sum(c.children) AS children, sum(c.children_failed) AS children_failed, sum(c.drafts) AS drafts, sum(c.draft_credits) AS draft_credits, 0::numeric AS credits_below
    FROM classed c CROSS JOIN LATERAL (
      VALUES ('all', org), ('agent', agent_id), ('tool', tool_id), ('trigger', trigger_id), ('key', api_key_id), ('schedule', schedule_id)
    ) AS d (dimension, subject_id)
    WHERE d.subject_id IS NOT NULL
    GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT at, dimension::run_count_dimension, subject_id, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(credits) FROM below GROUP BY 1, 2, 3
  )
  SELECT b.at, b.dimension, b.subject_id, sum(b.runs)::int, sum(b.completed)::int, sum(b.failed)::int, sum(b.cancelled)::int,
    (sum(b.runs) - sum(b.completed) - sum(b.failed) - sum(b.cancelled))::int, coalesce(sum(b.tokens), 0)::bigint, coalesce(sum(b.credits), 0),
    array_agg(b.class) FILTER (WHERE b.class IS NOT NULL), array_agg(b.runs::int) FILTER (WHERE b.class IS NOT NULL),
    sum(b.children)::int, sum(b.drafts)::int, coalesce(sum(b.draft_credits), 0), sum(b.credits_below),
    sum(b.children_failed)::int
  FROM by_class b GROUP BY 1, 2, 3
$$;
