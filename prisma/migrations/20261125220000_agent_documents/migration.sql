-- A version of an agent is one JSON document, as a version of a tool is. Tools are named by their slugs, which never change.
-- `settings` is appended as text, so that its output schema stays byte for byte.
ALTER TABLE agent_versions ADD COLUMN definition TEXT;
UPDATE agent_versions v SET definition = concat(
  '{"model":', to_json(v.model),
  ',"systemPrompt":', to_json(v.system_prompt),
  ',"maxSteps":', v.max_steps,
  ',"functions":', coalesce(to_json(v.functions), '[]'),
  ',"tools":', (
    SELECT coalesce(json_agg(t.slug ORDER BY attached.position), '[]')
    FROM unnest(v.tool_ids) WITH ORDINALITY AS attached (id, position) JOIN tools t ON t.id = attached.id),
  CASE WHEN btrim(v.settings, E'{} \n\r\t') = '' THEN '}' ELSE ',' || substr(ltrim(v.settings), 2) END);
ALTER TABLE agent_versions
  ALTER COLUMN definition SET NOT NULL,
  DROP CONSTRAINT agent_versions_ranges,
  DROP COLUMN model,
  DROP COLUMN system_prompt,
  DROP COLUMN max_steps,
  DROP COLUMN functions,
  DROP COLUMN tool_ids,
  DROP COLUMN settings,
  ADD CONSTRAINT agent_versions_ranges CHECK (
    number >= 1 AND deadline_seconds BETWEEN 1 AND 86400 AND coalesce(max_credits, 1) > 0
  );
