-- Writes steps as they are now. A finished one is never changed again.
CREATE FUNCTION write_steps(p_steps json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO steps ({{steps}})
  SELECT {{steps}} FROM json_populate_recordset(NULL::steps, p_steps)
  ON CONFLICT (run_id, key) DO UPDATE SET
    {{steps = EXCLUDED, except id, organization_id, run_id, key, step_number, iteration_number, tool_name, input, reasoning, input_tokens, output_tokens, child_run_id}},
    -- Each attempt may have its own child run, and is shown before that is known.
    child_run_id = coalesce(EXCLUDED.child_run_id, steps.child_run_id)
  WHERE steps.status = 'Running';
END $$;
