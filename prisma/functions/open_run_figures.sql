-- The usage of an open run, summed from its journal; nulls for an ended run, whose own row has it.
CREATE FUNCTION open_run_figures(
  run uuid, is_open boolean, OUT steps int, OUT actions int, OUT input_tokens int, OUT output_tokens int, OUT credits numeric, OUT sequence int
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE c record;
BEGIN
  IF NOT is_open THEN RETURN; END IF;
  SELECT count(*) FILTER (WHERE s.status NOT IN ('Running', 'Skipped')), coalesce(sum(s.actions), 0), coalesce(sum(s.credits), 0), coalesce(max(s.sequence), 0)
  INTO steps, actions, credits, sequence FROM steps s WHERE s.run_id = run;
  -- At most MAX_TOKENS_OF_RUN.
  SELECT least(coalesce(sum(m.input_tokens), 0), 1000000000) AS input_tokens, least(coalesce(sum(m.output_tokens), 0), 1000000000) AS output_tokens,
    coalesce(sum(m.credits), 0) AS credits,
    coalesce(max(m.sequence), 0) AS sequence
  INTO c FROM model_calls m WHERE m.run_id = run;
  input_tokens := c.input_tokens;
  output_tokens := c.output_tokens;
  credits := credits + c.credits;
  sequence := greatest(sequence, c.sequence);
END $$;
