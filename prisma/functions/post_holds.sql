-- Larger holds of running runs: all of an organization if they fit together, else one by one. Returns the verdicts.
CREATE FUNCTION post_holds(now_ timestamptz, p_holds json) RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record; n int; org_balance numeric; holds text[]; lines ledger_line[];
BEGIN
  holds := array_fill('held'::text, ARRAY[json_array_length(p_holds)]);
  FOR r IN SELECT org, sum(amount) AS total, array_agg(i ORDER BY i) AS items, array_agg(amount ORDER BY i) AS amounts
           FROM json_to_recordset(p_holds) AS h (i int, org uuid, amount numeric) GROUP BY org ORDER BY org LOOP
    SELECT balance INTO org_balance FROM organizations WHERE id = r.org;
    IF org_balance < r.total THEN
      FOR n IN 1 .. array_length(r.items, 1) LOOP
        IF org_balance < r.amounts[n] THEN holds[r.items[n] + 1] := 'uncovered'; ELSE org_balance := org_balance - r.amounts[n]; END IF;
      END LOOP;
    END IF;
  END LOOP;
  WITH h AS (
    SELECT * FROM json_to_recordset(p_holds) AS h (i int, run uuid, org uuid, amount numeric) WHERE holds[i + 1] = 'held'
  ), raised AS (
    UPDATE runs SET held = held + q.amount FROM (SELECT run, sum(amount) AS amount FROM h GROUP BY run) q WHERE runs.id = q.run
  )
  SELECT array_agg(ROW(org, run, 'hold', -amount, 'hold extended', 'run', 0)::ledger_line ORDER BY org, i) INTO lines FROM h;
  IF lines IS NOT NULL THEN PERFORM post_lines(now_, lines); END IF;
  RETURN holds;
END $$;
