-- Which starts the balances cover, and which get one of the slots. Returns the verdicts.
CREATE FUNCTION admit_starts(starts start_item[], verdicts text[], slots int) RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record; o record; n int; used int; room int;
BEGIN
  FOR r IN SELECT org, count(*)::int AS wanted, array_agg(i ORDER BY i) AS items, array_agg(hold ORDER BY i) AS holds,
             array_agg(headroom ORDER BY i) AS headrooms
           FROM unnest(starts) WHERE verdicts[i + 1] = 'run' GROUP BY org ORDER BY org LOOP
    SELECT balance, suspended_at IS NOT NULL AS suspended, in_flight, concurrency, EXISTS (
        SELECT FROM runs WHERE organization_id = r.org AND status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL
      ) AS queued INTO o
    FROM organizations JOIN plans ON organization_id = id WHERE id = r.org;
    room := CASE WHEN o.queued THEN 0 ELSE greatest(0, least(slots, o.concurrency - o.in_flight)) END;
    used := 0;
    FOR n IN 1 .. r.wanted LOOP
      IF o.suspended THEN verdicts[r.items[n] + 1] := 'suspended';
      ELSIF o.balance < r.holds[n] THEN verdicts[r.items[n] + 1] := 'credits';
      ELSIF used >= room THEN verdicts[r.items[n] + 1] := 'wait'; o.balance := o.balance - r.holds[n];
      ELSE
        used := used + 1;
        o.balance := o.balance - r.holds[n];
        -- Credits for the whole first iteration, as long as the balance covers every start of this flush.
        IF o.balance >= r.headrooms[n] AND r.headrooms[n] > 0 THEN
          verdicts[r.items[n] + 1] := 'run+'; o.balance := o.balance - r.headrooms[n];
        END IF;
      END IF;
    END LOOP;
    slots := slots - used;
  END LOOP;
  RETURN verdicts;
END $$;
