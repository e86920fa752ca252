ALTER TABLE runs ADD COLUMN trace_parent text;
-- Functions of an earlier release don't know this attribute, which is null then.
ALTER TYPE start_item ADD ATTRIBUTE trace_parent text;
