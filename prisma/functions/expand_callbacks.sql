-- Makes deliveries of new events, one for each endpoint that wants the event, and deletes events that none wants. Returns
-- how many events it took. An event of a run with its own address waits for the organization's endpoint of those.
CREATE FUNCTION expand_callbacks(p_at timestamptz, p_events int) RETURNS int LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now_ timestamptz(3) := coalesce(p_at, clock_timestamp()); taken uuid[];
BEGIN
  SELECT array_agg(id) INTO taken FROM (
    SELECT e.id FROM callback_events e WHERE e.expanded_at IS NULL AND NOT EXISTS (
      SELECT FROM runs r WHERE r.id = e.run_id AND r.callback_url IS NOT NULL AND NOT EXISTS (
        SELECT FROM callback_endpoints c WHERE c.organization_id = e.organization_id AND c.slug IS NULL AND c.deleted_at IS NULL))
    ORDER BY e.created_at LIMIT p_events FOR UPDATE OF e SKIP LOCKED) q;
  IF taken IS NULL THEN RETURN 0; END IF;
  INSERT INTO callback_deliveries (id, organization_id, event_id, endpoint_id, created_at, next_at, host_hash)
  SELECT
    -- A UUID v7 of the event's time: lists are sorted by it.
    encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
      substring(int8send((extract(epoch FROM e.created_at) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid,
    e.organization_id, e.id, c.id, now_, now_,
    CASE WHEN c.slug IS NULL THEN get_byte(sha256(convert_to(coalesce(substring(lower(r.callback_url) FROM '://([^/?#]*)'), ''), 'UTF8')), 0) ELSE 0 END
  FROM callback_events e LEFT JOIN runs r ON r.id = e.run_id LEFT JOIN schedules s ON s.id = e.schedule_id
  JOIN callback_endpoints c ON c.organization_id = e.organization_id AND c.disabled_at IS NULL AND c.deleted_at IS NULL
  WHERE e.id = ANY(taken) AND e.type = ANY(c.events) AND CASE
    WHEN e.endpoint_id IS NOT NULL THEN c.id = e.endpoint_id
    -- A run that was removed has nothing to tell.
    WHEN r.id IS NULL AND s.id IS NULL THEN false
    WHEN c.slug IS NULL THEN r.callback_url IS NOT NULL
    -- A schedule has a target, but neither a trigger nor metadata.
    ELSE r.source IS DISTINCT FROM 'draft'
      AND (cardinality(c.target_ids) = 0 OR coalesce(r.agent_id, r.tool_id, s.agent_id, s.tool_id) = ANY(c.target_ids))
      AND (cardinality(c.trigger_ids) = 0 OR r.trigger_id = ANY(c.trigger_ids))
      AND NOT EXISTS (SELECT FROM json_each_text(c.metadata::json) AS wanted WHERE r.metadata::json ->> wanted.key IS DISTINCT FROM wanted.value) END
  ON CONFLICT (event_id, endpoint_id) DO NOTHING;
  UPDATE callback_events e SET expanded_at = now_ WHERE e.id = ANY(taken) AND EXISTS (SELECT FROM callback_deliveries d WHERE d.event_id = e.id);
  DELETE FROM callback_events WHERE id = ANY(taken) AND expanded_at IS NULL;
  RETURN cardinality(taken);
END $$;
