-- Writes model calls as they are now. A completed one is never changed again.
CREATE FUNCTION write_calls(p_calls json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO model_calls ({{model_calls}})
  SELECT {{model_calls}} FROM json_populate_recordset(NULL::model_calls, p_calls)
  ON CONFLICT (run_id, key) DO UPDATE SET
    {{model_calls = EXCLUDED, except id, organization_id, run_id, key, iteration_number, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, credits}},
    -- A call that failed after output had started was charged; when it is made again, both count.
    input_tokens = model_calls.input_tokens + EXCLUDED.input_tokens, output_tokens = model_calls.output_tokens + EXCLUDED.output_tokens,
    cached_input_tokens = model_calls.cached_input_tokens + EXCLUDED.cached_input_tokens,
    cache_write_tokens = model_calls.cache_write_tokens + EXCLUDED.cache_write_tokens,
    reasoning_tokens = model_calls.reasoning_tokens + EXCLUDED.reasoning_tokens,
    credits = model_calls.credits + EXCLUDED.credits
  WHERE model_calls.status <> 'Completed';
END $$;
