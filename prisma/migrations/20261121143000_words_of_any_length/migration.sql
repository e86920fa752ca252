-- Words of any length are found by their beginning: a word is known by its first 200 letters, which is as much as can be
-- asked for (server/runs/filter.ts). Until now those of more than 2,046 bytes were left out by to_tsvector, and those of
-- 2,035 and more became other words, since with its scope before it each was longer than a tsvector can say.
SET LOCAL maintenance_work_mem = '256MB';
DROP INDEX runs_words;

-- The words of a text, once each: what to_tsvector('simple', …) takes (no blanks, tags, protocols and entities), of any length.
CREATE FUNCTION run_text_words(content text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY(SELECT DISTINCT left(lower(token), 200) FROM ts_parse('default', content) WHERE tokid NOT IN (12, 13, 14, 23))
$$;

-- plpgsql and a high cost: the planner must neither inline this nor think it cheap to run over every row. With a search
-- path of its own: an index is built without this schema in it.
CREATE OR REPLACE FUNCTION run_words(
  organization_id uuid, id uuid, kind run_kind, status run_status, source run_source, target_id uuid, trigger_id uuid,
  api_key_id uuid, user_id uuid, size_facets text, input text, output text, error_message text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 SET search_path FROM CURRENT AS $$
DECLARE
  scope text := right(organization_id::text, 6) || left(id::text, 5) || CASE WHEN substr(id::text, 6, 1) < '8' THEN '0' ELSE '8' END;
  facets text[] := ARRAY[kind::text, status::text, source::text] || string_to_array(size_facets, ' ');
  words text[] := run_text_words(
    left(input, 8192) || ' ' || left(coalesce(output, ''), 8192) || ' ' || left(coalesce(error_message, ''), 2048)
  );
BEGIN
  facets := facets || array_remove(ARRAY[target_id, trigger_id, api_key_id, user_id], NULL)::text[];
  RETURN array_to_tsvector(ARRAY(
    SELECT scope || ':' || word FROM unnest(words) AS word UNION ALL SELECT scope || '=' || facet FROM unnest(facets) AS facet
  ));
END $$;

CREATE INDEX runs_words ON runs USING gin (
  run_words(organization_id, id, kind, status, source, coalesce(agent_id, tool_id), trigger_id, api_key_id, user_id,
            size_facets, input, output, error_message)
) WITH (gin_pending_list_limit = 256) WHERE finished_at IS NOT NULL;

CREATE OR REPLACE FUNCTION run_words_query(scope text, sought text, facets text[]) RETURNS tsquery
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN sought IS NOT NULL AND bool_and(NOT is_word) THEN NULL ELSE string_agg(part, ' & ') END::tsquery FROM (
    SELECT true AS is_word, quote_lexeme(scope || ':' || word) || CASE WHEN length(word) > 2 THEN ':*' ELSE '' END AS part
    FROM unnest(run_text_words(coalesce(sought, ''))) AS word
    UNION ALL
    SELECT false, '(' || (SELECT string_agg(quote_lexeme(scope || '=' || facet), ' | ')
                          FROM unnest(string_to_array(alternatives, ' ')) AS facet) || ')'
    FROM unnest(facets) AS alternatives
  ) parts
$$;
