-- Sets a value of an organization, once per call: the write of a call that is repeated returns its first version. An expired
-- value counts as absent, and the next write of its key goes on from its version. Writes of one organization wait for
-- each other, which makes the bounds exact.
CREATE FUNCTION set_key_value(
  p_org uuid, p_call text, p_key text, p_value text, p_ttl_seconds int, p_if_version int, p_max_keys int, p_max_bytes int, p_at timestamptz
) RETURNS TABLE (outcome text, version int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now_ timestamptz(3) := coalesce(p_at, clock_timestamp()); known key_values%ROWTYPE; v_current int; v_next int; used record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('key_values ' || p_org, 0));
  SELECT w.version INTO v_next FROM key_value_writes w WHERE w.organization_id = p_org AND w.call = p_call;
  IF FOUND THEN RETURN QUERY SELECT 'written', v_next; RETURN; END IF;
  SELECT * INTO known FROM key_values k WHERE k.organization_id = p_org AND k.key = p_key;
  v_current := CASE WHEN known.version IS NULL OR known.expires_at <= now_ THEN 0 ELSE known.version END;
  IF p_if_version IS NOT NULL AND p_if_version <> v_current THEN RETURN QUERY SELECT 'conflict', v_current; RETURN; END IF;
  SELECT count(*) AS keys, coalesce(sum(octet_length(k.key) + octet_length(k.value)), 0) AS bytes INTO used FROM key_values k
  WHERE k.organization_id = p_org AND k.key <> p_key AND (k.expires_at IS NULL OR k.expires_at > now_);
  IF used.keys >= p_max_keys THEN RETURN QUERY SELECT 'too many', v_current; RETURN; END IF;
  IF used.bytes + octet_length(p_key) + octet_length(p_value) > p_max_bytes THEN RETURN QUERY SELECT 'too large', v_current; RETURN; END IF;
  v_next := coalesce(known.version, 0) + 1;
  INSERT INTO key_values (organization_id, key, value, version, updated_at, expires_at)
  VALUES (p_org, p_key, p_value, v_next, now_, now_ + make_interval(secs => p_ttl_seconds))
  ON CONFLICT (organization_id, key) DO UPDATE
    SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at, expires_at = excluded.expires_at;
  INSERT INTO key_value_writes (organization_id, call, version, written_at) VALUES (p_org, p_call, v_next, now_);
  RETURN QUERY SELECT 'written', v_next;
END $$;
