-- Records the ends of root runs for callbacks, in the transaction that ends them. The dispatcher of callbacks sends them.
CREATE FUNCTION store_callback_events(now_ timestamptz, ended json, ends end_item[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO callback_events (id, organization_id, run_id, type, created_at)
  SELECT gen_random_uuid(), r.organization_id, r.id, 'run.' || lower(r.status::text), now_
  FROM json_to_recordset(ended) AS d (i int, child boolean) JOIN unnest(ends) AS e USING (i) JOIN runs r ON r.id = e.run
  JOIN organizations o ON o.id = r.organization_id
  WHERE NOT d.child AND (o.has_callbacks OR r.callback_url IS NOT NULL);
END $$;
