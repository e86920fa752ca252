-- Stores the webhook deliveries that accepted starts came with.
CREATE FUNCTION store_deliveries(starts start_item[], verdicts text[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, headers, body, body_bytes, sender_id, redelivery_of, run_id)
  SELECT d.id, s.org, s.trigger, d.received_at, 'accepted', 200, d.headers, decode(d.body, 'base64'), octet_length(decode(d.body, 'base64')), d.sender,
    d.redelivery_of, s.id
  FROM unnest(starts) AS s, json_to_record(s.delivery) AS d (id uuid, received_at timestamptz, headers text, body text, sender text, redelivery_of uuid)
  WHERE s.delivery IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait');
END $$;
