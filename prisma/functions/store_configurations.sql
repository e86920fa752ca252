-- Stores the configurations of accepted starts that are not known to be stored.
CREATE FUNCTION store_configurations(now_ timestamptz, starts start_item[], verdicts text[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO configurations (organization_id, hash, document, created_at)
  SELECT DISTINCT ON (org, configuration) org, decode(configuration, 'hex'), document, now_
  FROM unnest(starts) WHERE document IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait')
  ON CONFLICT (organization_id, hash) DO NOTHING;
END $$;
