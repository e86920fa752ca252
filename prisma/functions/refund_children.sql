-- After an error of the platform nothing is charged: what ended children of the run were charged is refunded.
CREATE FUNCTION refund_children(now_ timestamptz, ended json, ends end_item[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record;
BEGIN
  FOR r IN
    WITH RECURSIVE tree AS (
      SELECT e.run AS root, e.run AS id, e.org FROM json_to_recordset(ended) AS d (i int) JOIN unnest(ends) AS e USING (i) WHERE e.refund
      UNION ALL SELECT tree.root, c.id, tree.org FROM runs c JOIN tree ON c.parent_run_id = tree.id)
    SELECT tree.org, c.run_id, -sum(c.amount) FILTER (WHERE c.kind = 'charge') AS charged
    FROM tree JOIN credit_entries c ON c.run_id = tree.id AND c.organization_id = tree.org
    GROUP BY tree.org, c.run_id HAVING sum(c.amount) FILTER (WHERE c.kind = 'charge') < 0 AND NOT bool_or(c.kind = 'refund') ORDER BY min(c.sequence)
  LOOP
    UPDATE organizations SET balance = balance + r.charged, ledger_sequence = ledger_sequence + 1 WHERE id = r.org;
    INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
    SELECT r.org, ledger_sequence, 'refund', r.charged, balance - r.charged, balance, r.run_id, 'the calling run ended by an error of the platform', 'run', now_
    FROM organizations WHERE id = r.org;
  END LOOP;
END $$;
