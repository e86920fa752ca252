-- A healthy callback has few: its list of them must not read all deliveries.
CREATE INDEX callback_deliveries_undelivered ON callback_deliveries (endpoint_id, id DESC) WHERE delivered_at IS NULL;
