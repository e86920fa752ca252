-- Leases deliveries that are due to the calling process, organizations in turn: at most `p_free`, and one each for up to
-- `p_spare` organizations beyond that which have none in progress. A receiver is an endpoint, or the hosts of X-Callback-Url
-- with one hash. At most four of one receiver are in progress in all processes, one of a failing endpoint, and twenty of one
-- organization. Receivers with none in progress come first, and have twenty more: they must not wait for stalled ones. These
-- leave `p_kept` of the process's attempts to other organizations.
-- A lease that ends without a result is given again.
CREATE FUNCTION claim_callbacks(p_at timestamptz, p_free int, p_kept int, p_spare int, p_lease_seconds int)
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
    WITH RECURSIVE hosts AS (
      -- A skip scan: an index probe for each hash that exists, not for each possible one.
      SELECT id AS endpoint_id, -1 AS hash FROM unnest(locked) AS id
      UNION ALL
      SELECT h.endpoint_id, next.host_hash FROM hosts h CROSS JOIN LATERAL (
        SELECT q.host_hash FROM callback_deliveries q
        WHERE q.endpoint_id = h.endpoint_id AND q.host_hash > h.hash AND q.next_at IS NOT NULL
        ORDER BY q.host_hash LIMIT 1) next
    ), leased AS (
      SELECT endpoint_id, host_hash, organization_id, count(*) AS n FROM callback_deliveries
      WHERE leased_until IS NOT NULL AND leased_until > now_ GROUP BY 1, 2, 3
    ), leased_of_orgs AS (
      SELECT organization_id, sum(n) AS n FROM leased GROUP BY 1
    ), due AS (
      SELECT d.id, c.id AS endpoint_id, c.organization_id, d.host_hash, d.next_at, coalesce(l.n, 0) AS busy, coalesce(o.n, 0) AS org_busy
      FROM hosts JOIN callback_endpoints c ON c.id = hosts.endpoint_id
      LEFT JOIN leased_of_orgs o ON o.organization_id = c.organization_id
      LEFT JOIN leased l ON l.endpoint_id = c.id AND l.host_hash = hosts.hash
      CROSS JOIN LATERAL (
        SELECT q.id, q.host_hash, q.next_at FROM callback_deliveries q
        WHERE q.endpoint_id = c.id AND q.host_hash = hosts.hash AND q.next_at <= now_ AND (q.leased_until IS NULL OR q.leased_until <= now_)
        ORDER BY q.next_at
        LIMIT greatest(0, CASE WHEN c.failing_since IS NULL THEN 4 ELSE 1 END - coalesce(l.n, 0))) d
      WHERE hosts.hash >= 0
    ), own_turns AS (
      SELECT due.*, busy + row_number() OVER (PARTITION BY endpoint_id, host_hash ORDER BY next_at, id) AS own_turn FROM due
    ), turns AS (
      SELECT own_turns.*, org_busy + row_number() OVER (PARTITION BY organization_id ORDER BY own_turn, next_at, id) AS turn FROM own_turns
    ), places AS (
      SELECT turns.*, row_number() OVER (ORDER BY turn, next_at, id) AS place FROM turns
      WHERE turn <= CASE WHEN own_turn = 1 THEN 40 ELSE 20 END
    )
    UPDATE callback_deliveries d SET leased_until = now_ + make_interval(secs => p_lease_seconds), attempts = d.attempts + 1
    WHERE d.id = ANY(ARRAY(
      SELECT q.id FROM callback_deliveries q
      WHERE q.id = ANY(ARRAY(
        SELECT id FROM places WHERE place <= CASE WHEN turn = 1 THEN p_free + p_spare WHEN turn <= 20 THEN p_free ELSE p_free - p_kept END))
        AND q.next_at <= now_ AND (q.leased_until IS NULL OR q.leased_until <= now_)
      -- A result may be written at this moment, which waits for the endpoint.
      FOR UPDATE SKIP LOCKED))
    RETURNING d.id, d.organization_id, d.attempts;
END $$;
