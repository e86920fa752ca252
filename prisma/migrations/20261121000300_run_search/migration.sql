-- Finding runs by their words. Only ended runs are in the index: a start writes nothing here, an end writes once.
-- The organization is a word like any other, so that one organization's search never reads another's entries.
-- plpgsql and a high cost: the planner must neither inline this nor think it cheap to run over every row.
CREATE FUNCTION run_words(organization_id uuid, input text, output text, error_message text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
  RETURN array_to_tsvector(ARRAY['org:' || organization_id::text]) || to_tsvector(
    'simple', left(input, 8192) || ' ' || left(coalesce(output, ''), 8192) || ' ' || left(coalesce(error_message, ''), 2048)
  );
END $$;

CREATE INDEX runs_words ON runs USING gin (run_words(organization_id, input, output, error_message))
  WHERE finished_at IS NOT NULL;

-- What a search asks for: every word of the text as the beginning of a word. Null when the text holds no word.
CREATE FUNCTION run_words_query(organization_id uuid, sought text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (quote_literal('org:' || organization_id::text) || string_agg(' & ' || quote_literal(word) || ':*', ''))::tsquery
  FROM unnest(tsvector_to_array(to_tsvector('simple', sought))) AS word
$$;

CREATE INDEX "runs_organization_id_source_id_idx" ON "runs"("organization_id", "source", "id" DESC);
