-- Claims the keys of repetitions before anything is held; another process may have been faster. Returns the verdicts.
CREATE FUNCTION claim_keys(now_ timestamptz, starts start_item[], verdicts text[]) RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE again int[]; n int;
BEGIN
  WITH s AS (
    SELECT * FROM unnest(starts) WHERE idem IS NOT NULL AND verdicts[i + 1] = 'run' ORDER BY org, scope, idem
  ), mine AS (
    INSERT INTO idempotency_keys AS k (organization_id, scope, key, request_hash, run_id, response, created_at, expires_at)
    SELECT org, scope, idem, decode(hash, 'hex'), id, response, now_, now_ + interval '1 day' FROM s
    ON CONFLICT (organization_id, scope, key) DO UPDATE SET request_hash = EXCLUDED.request_hash, run_id = EXCLUDED.run_id, response = EXCLUDED.response,
      created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at WHERE k.expires_at <= now_
    RETURNING run_id)
  SELECT array_agg(i) INTO again FROM s WHERE id NOT IN (SELECT run_id FROM mine);
  FOR n IN 1 .. coalesce(array_length(again, 1), 0) LOOP verdicts[again[n] + 1] := 'again'; END LOOP;
  RETURN verdicts;
END $$;
