-- After an error of the platform nothing is charged: what ended children of the run were charged is refunded.
CREATE FUNCTION refund_children(now_ timestamptz, ended json, ends end_item[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE lines ledger_line[];
BEGIN
  WITH RECURSIVE tree AS (
    SELECT e.run AS id, e.org FROM json_to_recordset(ended) AS d (i int) JOIN unnest(ends) AS e USING (i) WHERE e.refund
    -- Not `UNION ALL`: a run that ends in the same flush as its caller would be refunded twice.
    UNION SELECT c.id, tree.org FROM runs c JOIN tree ON c.parent_run_id = tree.id
  ), charged AS (
    SELECT tree.org, c.run_id, -sum(c.amount) FILTER (WHERE c.kind = 'charge') AS amount, min(c.sequence) AS since
    FROM tree JOIN credit_entries c ON c.run_id = tree.id AND c.organization_id = tree.org
    GROUP BY tree.org, c.run_id HAVING sum(c.amount) FILTER (WHERE c.kind = 'charge') < 0 AND NOT bool_or(c.kind = 'refund')
  )
  SELECT array_agg(ROW(org, run_id, 'refund', amount, 'the calling run ended by an error of the platform', 'run', 0)::ledger_line ORDER BY org, since) INTO lines FROM charged;
  IF lines IS NOT NULL THEN PERFORM post_lines(now_, lines); END IF;
END $$;
