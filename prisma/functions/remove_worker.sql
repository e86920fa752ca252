-- Deletes a worker and gives its runs back: they wait for a slot again. Waits for flushes in progress, which hold its lanes.
-- `p_crashed`: the worker stopped reporting, which counts against the runs that it executed.
CREATE FUNCTION remove_worker(p_worker text, p_crashed boolean) RETURNS int LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE n int;
BEGIN
  -- The lanes first: a flush that holds one still needs the worker's row, for the foreign key of its second update of the lane.
  PERFORM 1 FROM worker_lanes WHERE worker_id = p_worker ORDER BY lane FOR UPDATE;
  DELETE FROM workers WHERE id = p_worker;
  IF NOT FOUND THEN RETURN 0; END IF;
  PERFORM 1 FROM organizations WHERE id IN (SELECT organization_id FROM runs WHERE claimed_by = p_worker AND status IN ('Pending', 'Running')
                         UNION ALL
                         SELECT organization_id FROM runs WHERE paused_by = p_worker AND status IN ('Pending', 'Running')
                           AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL)
  ORDER BY id FOR NO KEY UPDATE;
  WITH claimed AS (
    UPDATE runs SET claimed_by = NULL, admitted_at = CASE WHEN parent_run_id IS NULL THEN NULL ELSE admitted_at END,
      crashes = crashes + CASE WHEN p_crashed AND parent_run_id IS NULL THEN 1 ELSE 0 END
    WHERE claimed_by = p_worker AND status IN ('Pending', 'Running') RETURNING organization_id, parent_run_id
  ), paused AS (
    -- No call may come any more for a run that this worker executed between two calls.
    UPDATE runs SET admitted_at = NULL, paused_by = NULL
    WHERE paused_by = p_worker AND status IN ('Pending', 'Running')
      AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL RETURNING organization_id, parent_run_id
  ), freed AS (
    SELECT * FROM claimed UNION ALL SELECT * FROM paused
  ), counted AS (
    UPDATE organizations o SET in_flight = in_flight - f.n
    FROM (SELECT organization_id, count(*)::int AS n FROM freed WHERE parent_run_id IS NULL GROUP BY 1) f WHERE o.id = f.organization_id
  )
  SELECT count(*) INTO n FROM freed;
  RETURN n;
END $$;
