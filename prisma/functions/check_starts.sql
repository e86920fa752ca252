-- The verdicts on starts before anything is held: repetitions of earlier calls, then rate limits.
CREATE FUNCTION check_starts(
  p_at timestamptz, now_ timestamptz, starts start_item[], has_keys boolean, INOUT verdicts text[], OUT replays json, OUT rates json
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record; taken record; n int; kept json[] := '{}';
BEGIN
  -- Repetitions of earlier calls.
  IF has_keys THEN
    SELECT json_agg(q) INTO replays FROM (
      SELECT s.i, k.run_id AS run, k.response, k.request_hash = decode(s.hash, 'hex') AS same
      FROM unnest(starts) AS s
      JOIN idempotency_keys k ON k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.expires_at > now_) q;
    FOR r IN SELECT * FROM json_to_recordset(replays) AS p (i int, same boolean) LOOP
      verdicts[r.i + 1] := CASE WHEN r.same THEN 'replay' ELSE 'conflict' END;
    END LOOP;
  END IF;

  -- Rate limits. Calls with an unlimited rate have no key here. A webhook's repetition comes before its limit and does not count.
  FOR r IN
    SELECT rate_key, min(rate_limit) AS rate_limit, min(rate_seconds) AS rate_seconds, count(*)::int AS wanted, array_agg(i ORDER BY i) AS items
    FROM unnest(starts) WHERE rate_key IS NOT NULL AND NOT (replay_first AND verdicts[i + 1] IN ('replay', 'conflict'))
    GROUP BY rate_key ORDER BY rate_key
  LOOP
    taken := take_rate(r.rate_key, r.wanted, r.rate_limit, r.rate_seconds, p_at);
    kept := kept || json_build_object('key', r.rate_key, 'remaining', taken.remaining, 'reset', taken.reset_seconds);
    FOR n IN taken.granted + 1 .. r.wanted LOOP verdicts[r.items[n] + 1] := 'rate'; END LOOP;
  END LOOP;
  rates := array_to_json(kept);
END $$;
