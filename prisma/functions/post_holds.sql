-- Larger holds of running runs: all of an organization if they fit together, else one by one. Returns the verdicts.
CREATE FUNCTION post_holds(now_ timestamptz, p_holds json) RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record; n int; org_balance numeric; holds text[];
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
  ), posted AS (
    INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
    SELECT h.org, o.ledger_sequence + row_number() OVER w, 'hold', -h.amount, o.balance - sum(h.amount) OVER w + h.amount, o.balance - sum(h.amount) OVER w,
      h.run, 'hold extended', 'run', now_
    FROM h JOIN organizations o ON o.id = h.org WINDOW w AS (PARTITION BY h.org ORDER BY h.i) RETURNING organization_id AS org, amount
  )
  UPDATE organizations o SET balance = balance + s.amount, ledger_sequence = ledger_sequence + s.n, updated_at = now_
  FROM (SELECT org, sum(amount) AS amount, count(*)::int AS n FROM posted GROUP BY org) s WHERE o.id = s.org;
  RETURN holds;
END $$;
