-- Takes up to `wanted` calls from the window of a key; returns how many were granted, how many remain, and in how many
-- seconds the oldest counted call leaves the window. Call number n is free again when call n - limit is older than the window.
-- `at`: the test clock's time; null in production. Times of a key never decrease: they are read under the counter's lock.
CREATE FUNCTION take_rate(k text, wanted int, lim int, secs int, at_ timestamptz, OUT granted int, OUT remaining int, OUT reset_seconds int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE t bigint; last_ timestamptz; now_ timestamptz(3); since timestamptz; gone bigint; oldest timestamptz;
BEGIN
  SELECT taken, updated_at INTO t, last_ FROM rate_counters WHERE key = k FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO rate_counters (key, taken, seconds, updated_at) VALUES (k, 0, secs, coalesce(at_, clock_timestamp())) ON CONFLICT DO NOTHING;
    SELECT taken, updated_at INTO t, last_ FROM rate_counters WHERE key = k FOR UPDATE;
  END IF;
  now_ := coalesce(at_, clock_timestamp());
  IF last_ > now_ THEN
    UPDATE rate_segments SET at = now_ WHERE key = k AND at > now_;
    UPDATE rate_counters SET updated_at = now_ WHERE key = k;
  END IF;
  since := now_ - make_interval(secs => secs);
  SELECT (SELECT upto FROM rate_segments WHERE key = k AND at <= since ORDER BY at DESC, upto DESC LIMIT 1),
    (SELECT at FROM rate_segments WHERE key = k AND at > since ORDER BY at LIMIT 1) INTO gone, oldest;
  granted := greatest(0, least(wanted, lim - (t - coalesce(gone, 0))));
  IF granted > 0 THEN
    INSERT INTO rate_segments (key, at, upto) VALUES (k, now_, t + granted);
    UPDATE rate_counters SET taken = t + granted, seconds = secs, updated_at = now_ WHERE key = k;
  END IF;
  remaining := greatest(0, lim - (t + granted - coalesce(gone, 0)));
  reset_seconds := greatest(1, ceil(extract(epoch FROM coalesce(oldest, now_) - now_) + secs))::int;
END $$;
