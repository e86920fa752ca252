-- Leases deliveries that are due to the calling process, organizations in turn: at most `p_free`, and one each for up to
-- `p_spare` organizations beyond that which have none in progress. At most four of one endpoint are in progress in all
-- processes, one of a failing endpoint, and twenty of one organization. A lease that ends without a result is given again.
CREATE FUNCTION claim_callbacks(p_at timestamptz, p_free int, p_spare int, p_lease_seconds int)
RETURNS TABLE (delivery uuid, org uuid, attempt int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now_ timestamptz(3) := coalesce(p_at, clock_timestamp()); locked uuid[];
BEGIN
  -- One process at a time claims for an endpoint, so that it sees what others have in progress.
  SELECT array_agg(id) INTO locked FROM (
    SELECT c.id FROM callback_endpoints c JOIN organizations o ON o.id = c.organization_id
    WHERE c.disabled_at IS NULL AND c.deleted_at IS NULL AND o.suspended_at IS NULL AND EXISTS (
      SELECT FROM callback_deliveries d WHERE d.endpoint_id = c.id AND d.next_at <= now_ AND (d.leased_until IS NULL OR d.leased_until <= now_))
    FOR NO KEY UPDATE OF c SKIP LOCKED) q;
  IF locked IS NULL THEN RETURN; END IF;
  RETURN QUERY
    WITH leased AS (
      SELECT endpoint_id, organization_id, count(*) AS n FROM callback_deliveries WHERE leased_until IS NOT NULL AND leased_until > now_ GROUP BY 1, 2
    ), due AS (
      SELECT d.id, c.organization_id, d.next_at FROM callback_endpoints c CROSS JOIN LATERAL (
        SELECT q.id, q.next_at FROM callback_deliveries q
        WHERE q.endpoint_id = c.id AND q.next_at <= now_ AND (q.leased_until IS NULL OR q.leased_until <= now_)
        ORDER BY q.next_at
        LIMIT greatest(0, CASE WHEN c.slug IS NULL THEN 20 WHEN c.failing_since IS NULL THEN 4 ELSE 1 END
          - coalesce((SELECT n FROM leased l WHERE l.endpoint_id = c.id), 0))
        -- A result may be written at this moment, which waits for the endpoint.
        FOR UPDATE OF q SKIP LOCKED) d
      WHERE c.id = ANY(locked)
    ), turns AS (
      SELECT due.*, row_number() OVER (PARTITION BY organization_id ORDER BY next_at, id)
        + coalesce((SELECT sum(n) FROM leased l WHERE l.organization_id = due.organization_id), 0) AS turn FROM due
    ), places AS (
      SELECT turns.*, row_number() OVER (ORDER BY turn, next_at, id) AS place FROM turns WHERE turn <= 20
    )
    UPDATE callback_deliveries d SET leased_until = now_ + make_interval(secs => p_lease_seconds), attempts = d.attempts + 1
    FROM places p WHERE d.id = p.id AND (p.place <= p_free OR (p.turn = 1 AND p.place <= p_free + p_spare))
    RETURNING d.id, d.organization_id, d.attempts;
END $$;
