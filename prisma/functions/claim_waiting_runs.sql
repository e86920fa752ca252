-- Gives waiting runs slots: organization by organization, fewest in flight first, oldest first within one, as far as plans
-- allow. The runs are claimed by `p_worker`; without one they are handed over to an Inngest server, whose calls claim them.
-- A run that waited starts later than it was created, at least by 1 ms: its events are numbered by that.
-- `p_suspects`: only suspects, only others, or all (NULL). Those of `p_except` stay waiting.
CREATE FUNCTION claim_waiting_runs(p_worker text, p_slots int, p_at timestamptz, p_suspects boolean, p_except uuid[])
RETURNS TABLE (run uuid, run_kind run_kind, run_hand_over int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now_ timestamptz(3); chosen uuid[]; orgs uuid[];
BEGIN
  IF p_worker IS NOT NULL THEN
    PERFORM 1 FROM workers w WHERE w.id = p_worker FOR KEY SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'worker % was replaced', p_worker USING ERRCODE = 'SW001'; END IF;
  END IF;
  WITH RECURSIVE waiting AS (
    (SELECT organization_id FROM runs WHERE status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.organization_id FROM runs r WHERE r.status IN ('Pending', 'Running') AND r.admitted_at IS NULL AND r.parent_run_id IS NULL AND r.wake_at IS NULL
              AND r.organization_id > w.organization_id ORDER BY r.organization_id LIMIT 1)
    FROM waiting w WHERE w.organization_id IS NOT NULL)
  SELECT array_agg(w.organization_id) INTO orgs FROM waiting w JOIN organizations o ON o.id = w.organization_id JOIN plans p ON p.organization_id = o.id
  WHERE o.in_flight < p.concurrency;
  IF orgs IS NULL THEN RETURN; END IF;
  PERFORM 1 FROM organizations o WHERE o.id = ANY(orgs) ORDER BY o.id FOR NO KEY UPDATE;
  now_ := coalesce(p_at, clock_timestamp());
  SELECT array_agg(id) INTO chosen FROM (
    SELECT c.id FROM (
      SELECT r.id, o.in_flight + row_number() OVER (PARTITION BY o.id ORDER BY r.id) AS turn
      FROM organizations o JOIN plans p ON p.organization_id = o.id CROSS JOIN LATERAL (
        SELECT q.id FROM runs q WHERE q.organization_id = o.id AND q.status IN ('Pending', 'Running') AND q.admitted_at IS NULL AND q.parent_run_id IS NULL AND q.wake_at IS NULL
          AND q.cancel_requested_at IS NULL AND (p_suspects IS NULL OR (q.crashes >= 2) = p_suspects)
          AND q.id <> ALL(p_except)
        ORDER BY q.id LIMIT greatest(0, least(p_slots, p.concurrency - o.in_flight))) r
      WHERE o.id = ANY(orgs)) c
    ORDER BY c.turn, c.id LIMIT p_slots) q;
  IF chosen IS NULL THEN RETURN; END IF;
  RETURN QUERY
    WITH claimed AS (
      UPDATE runs SET admitted_at = now_, sequence = runs.sequence + 1,
        claimed_by = p_worker, epoch = runs.epoch + CASE WHEN p_worker IS NULL THEN 0 ELSE 1 END,
        hand_over = runs.hand_over + CASE WHEN p_worker IS NULL THEN 1 ELSE 0 END, paused_by = NULL,
        status = CASE WHEN p_worker IS NULL THEN runs.status ELSE 'Running' END,
        started_at = CASE WHEN p_worker IS NULL THEN runs.started_at ELSE coalesce(runs.started_at, greatest(now_, runs.created_at + interval '1 ms')) END,
        resumed_at = CASE WHEN cardinality(runs.resumed_at) < cardinality(runs.yielded_at) THEN runs.resumed_at || now_ ELSE runs.resumed_at END
      WHERE runs.id = ANY(chosen) AND runs.status IN ('Pending', 'Running') AND runs.admitted_at IS NULL AND runs.cancel_requested_at IS NULL
      RETURNING runs.id, runs.organization_id, runs.kind, runs.hand_over
    ), counted AS (
      UPDATE organizations o SET in_flight = o.in_flight + c.n FROM (SELECT organization_id, count(*)::int AS n FROM claimed GROUP BY 1) c WHERE o.id = c.organization_id
    )
    SELECT c.id, c.kind, c.hand_over FROM claimed c;
END $$;
