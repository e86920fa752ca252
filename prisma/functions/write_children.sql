-- Creates child runs on the slots and holds of their roots.
CREATE FUNCTION write_children(p_worker text, now_ timestamptz, p_children json) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO configurations (organization_id, hash, document, created_at)
  SELECT DISTINCT ON (org, hash) org, decode(hash, 'hex'), document, now_
  FROM json_to_recordset(p_children) AS c (org uuid, hash text, document text)
  ON CONFLICT (organization_id, hash) DO NOTHING;
  INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source,
    parent_run_id, root_run_id, input, max_credits, max_credits_of, created_at, admitted_at, started_at, deadline_seconds, claimed_by, epoch, sequence)
  SELECT id, org, kind, agent, tool, name, version, model, decode(hash, 'hex'), 'Running', 'run',
    parent, root, input, cap, cap_of, now_, now_, now_, deadline, p_worker, 1, 1
  FROM json_to_recordset(p_children) AS c (id uuid, org uuid, kind run_kind, agent uuid, tool uuid, name text, version int, model text, hash text,
    parent uuid, root uuid, input text, cap numeric, cap_of text, deadline int);
END $$;
