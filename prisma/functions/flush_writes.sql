-- One flush of a worker's lane: everything that was queued, in one transaction. Locks are taken in one order everywhere:
-- lane, rate counters, organizations, runs; each kind sorted. The answer is returned and kept in the lane's row.
CREATE FUNCTION flush_writes(
  p_worker text, p_lane text, p_flush bigint, p_at timestamptz, p_slots int,
  p_children json, p_calls json, p_steps json, p_ends json, p_holds json, p_starts json, p_accounts uuid[]
) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  last_flush bigint; now_ timestamptz(3); starts start_item[]; ends end_item[]; verdicts text[] := '{}'; checked record; replays json; rates json;
  holds text[]; ended json; has_keys boolean; has_documents boolean; has_deliveries boolean; has_forks boolean; has_refunds boolean; answer_ text;
  calls_back boolean;
BEGIN
  SELECT flush INTO last_flush FROM worker_lanes WHERE worker_id = p_worker AND lane = p_lane FOR NO KEY UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'worker % was replaced', p_worker USING ERRCODE = 'SW001'; END IF;
  IF last_flush <> p_flush - 1 THEN
    RAISE EXCEPTION 'flush % of lane % was written before', p_flush, p_lane USING ERRCODE = 'SW002';
  END IF;
  now_ := coalesce(p_at, clock_timestamp());

  -- Child runs and the journal.
  IF p_children IS NOT NULL THEN PERFORM write_children(p_worker, now_, p_children); END IF;
  IF p_calls IS NOT NULL THEN PERFORM write_calls(p_calls); END IF;
  IF p_steps IS NOT NULL THEN PERFORM write_steps(p_steps); END IF;
  IF p_ends IS NULL AND p_holds IS NULL AND p_starts IS NULL THEN
    UPDATE worker_lanes SET flush = p_flush, answer = NULL WHERE worker_id = p_worker AND lane = p_lane;
    RETURN NULL;
  END IF;

  IF p_ends IS NOT NULL THEN
    SELECT array_agg(e), bool_or(refund) INTO ends, has_refunds FROM json_populate_recordset(NULL::end_item, p_ends) AS e;
  END IF;
  IF p_starts IS NOT NULL THEN
    SELECT array_agg(s), array_agg(CASE WHEN refused THEN 'reject' ELSE 'run' END), bool_or(idem IS NOT NULL), bool_or(document IS NOT NULL),
      bool_or(delivery IS NOT NULL), bool_or(fork IS NOT NULL)
    INTO starts, verdicts, has_keys, has_documents, has_deliveries, has_forks FROM json_populate_recordset(NULL::start_item, p_starts) AS s;
    checked := check_starts(p_at, now_, starts, has_keys, verdicts);
    verdicts := checked.verdicts;
    replays := checked.replays;
    rates := checked.rates;
  END IF;

  -- From here on organizations change: all that this flush touches are locked in one order.
  SELECT bool_or(has_callbacks) INTO calls_back FROM (SELECT has_callbacks FROM organizations WHERE id = ANY(p_accounts) ORDER BY id FOR NO KEY UPDATE) o;

  -- Ends come before holds and starts: they free credits and slots.
  IF p_ends IS NOT NULL THEN
    ended := post_ends(p_worker, now_, ends, calls_back);
    IF has_refunds AND ended IS NOT NULL THEN PERFORM refund_children(now_, ended, ends); END IF;
  END IF;
  IF p_holds IS NOT NULL THEN holds := post_holds(now_, p_holds); END IF;
  IF p_starts IS NOT NULL THEN
    IF has_keys THEN verdicts := claim_keys(now_, starts, verdicts); END IF;
    verdicts := admit_starts(starts, verdicts, p_slots);
    IF has_documents THEN PERFORM store_configurations(now_, starts, verdicts); END IF;
    PERFORM post_starts(p_worker, now_, starts, verdicts);
    IF has_forks THEN PERFORM take_over_rows(now_, starts, verdicts); END IF;
    IF has_deliveries THEN PERFORM store_deliveries(starts, verdicts); END IF;
    -- Rejected starts keep no key.
    IF has_keys THEN
      DELETE FROM idempotency_keys k USING unnest(starts) AS s
      WHERE s.idem IS NOT NULL AND verdicts[s.i + 1] IN ('credits', 'suspended')
        AND k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.run_id = s.id;
    END IF;
  END IF;
  answer_ := json_build_object('at', now_, 'starts', verdicts, 'rates', rates, 'replays', replays, 'holds', holds, 'ended', ended)::text;
  UPDATE worker_lanes SET flush = p_flush, answer = answer_ WHERE worker_id = p_worker AND lane = p_lane;
  RETURN answer_;
END $$;
