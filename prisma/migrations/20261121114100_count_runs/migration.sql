-- Figures of the runs created in an hour or a day, counted once when none of them can change any more, so that months of
-- metrics are read from a few thousand rows. server/runs/count.ts keeps them.
CREATE TYPE "run_count_span" AS ENUM ('hour', 'day');
CREATE TYPE "run_count_dimension" AS ENUM ('all', 'agent', 'tool', 'trigger', 'key');

CREATE TABLE "run_counts" (
    "organization_id" UUID NOT NULL,
    "span" "run_count_span" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "dimension" "run_count_dimension" NOT NULL,
    "subject_id" UUID NOT NULL,
    "runs" INTEGER NOT NULL,
    "completed" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,
    "cancelled" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,
    "credits" DECIMAL(18,4) NOT NULL,
    "duration_classes" SMALLINT[],
    "duration_runs" INTEGER[],

    CONSTRAINT "run_counts_pkey" PRIMARY KEY ("organization_id","span","at","dimension","subject_id")
);
ALTER TABLE "run_counts" ADD CONSTRAINT "run_counts_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Up to when an organization's runs are counted.
CREATE TABLE "run_counts_until" (
    "organization_id" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_counts_until_pkey" PRIMARY KEY ("organization_id")
);
ALTER TABLE "run_counts_until" ADD CONSTRAINT "run_counts_until_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The smallest UUID v7 of a moment.
CREATE FUNCTION run_id_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(greatest(0, floor(extract(epoch FROM at) * 1000))::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- Durations on a logarithmic scale, 2 % a class; the middle of a class is at most 1 % away from what is in it.
CREATE FUNCTION run_duration_class(took interval) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (CASE WHEN took IS NULL THEN NULL ELSE ceil(ln(greatest(1, extract(epoch FROM took)::float8 * 1000)) / ln(1.02::float8)) END)::smallint
$$;

-- Counts an organization's runs of a time in steps, by itself and by agent, tool, trigger and key. The one place where the
-- figures are made: for what is kept in run_counts, and for what is too young for it. Ids are made within an hour of created_at.
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
