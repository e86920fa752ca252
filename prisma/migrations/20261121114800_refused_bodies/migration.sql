-- Why a delivery's body is not kept; null when it is.
ALTER TABLE "deliveries" ADD COLUMN "body_note" TEXT;
UPDATE deliveries SET body_note = 'too many large calls were refused at once' WHERE octet_length(body) < body_bytes;

-- What the hourly pass looks for: the bodies of refused calls that take room, newest first.
CREATE INDEX deliveries_refused_bodies ON deliveries (trigger_id, id DESC)
  INCLUDE (body_bytes) WHERE outcome = 'rejected' AND body_bytes > 4096 AND body_note IS NULL;
