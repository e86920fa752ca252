-- Finding runs by words and by combinations of conditions, however many there are.
--
-- One index of words and facets (status, source, target, …) over ended runs. Each of its keys begins with a scope: the end
-- of the organization's id and the first 21 bits of the run's, which is a UUID v7: the runs of the same day and a half
-- (2^27 ms). A search goes scope by scope from the newest and stops when its page is full: its work is bounded by a day
-- and a half of one organization, whatever the word. Words are `scope:word`, facets `scope=facet`.
SET LOCAL maintenance_work_mem = '256MB';
DROP INDEX runs_words;
DROP FUNCTION run_words(uuid, text, text, text);
DROP FUNCTION run_words_query(uuid, text);

-- On a scale of half octaves: 0 for nothing, 1 for the smallest, each two steps a doubling. server/runs/filter.ts has the
-- same formula.
CREATE FUNCTION run_size_class(size float8) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN size <= 0 THEN 0 ELSE greatest(1, 1 + floor(2 * ln(size) / ln(2.0::float8)))::int END
$$;

-- How long, wordy and dear an ended run was, as facets: `d14`, `t9`, `c22` (milliseconds, tokens, ten-thousandths of a
-- credit). A column, because the figures change while a run goes on: an index over them would have to be written to each
-- time, while this stays null until the end.
ALTER TABLE runs ADD COLUMN size_facets text GENERATED ALWAYS AS (
  CASE WHEN finished_at IS NULL THEN NULL ELSE
    'd' || run_size_class(coalesce(extract(epoch FROM finished_at - started_at), 0)::float8 * 1000)::text
    || ' t' || run_size_class((input_tokens::bigint + output_tokens)::float8)::text
    || ' c' || run_size_class(credits_used::float8 * 10000)::text
  END
) STORED;

-- plpgsql and a high cost: the planner must neither inline this nor think it cheap to run over every row. No
-- functions of ours inside: an index is built without their schema in the search path.
CREATE FUNCTION run_words(
  organization_id uuid, id uuid, kind run_kind, status run_status, source run_source, target_id uuid, trigger_id uuid,
  api_key_id uuid, user_id uuid, size_facets text, input text, output text, error_message text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
DECLARE
  scope text := right(organization_id::text, 6) || left(id::text, 5) || CASE WHEN substr(id::text, 6, 1) < '8' THEN '0' ELSE '8' END;
  facets text[] := ARRAY[kind::text, status::text, source::text] || string_to_array(size_facets, ' ');
  words text[] := tsvector_to_array(to_tsvector(
    'simple', left(input, 8192) || ' ' || left(coalesce(output, ''), 8192) || ' ' || left(coalesce(error_message, ''), 2048)
  ));
BEGIN
  facets := facets || array_remove(ARRAY[target_id, trigger_id, api_key_id, user_id], NULL)::text[];
  RETURN array_to_tsvector(ARRAY(
    SELECT scope || ':' || word FROM unnest(words) AS word UNION ALL SELECT scope || '=' || facet FROM unnest(facets) AS facet
  ));
END $$;

-- A small list of entries that wait to be sorted in: every search reads it, scope by scope.
CREATE INDEX runs_words ON runs USING gin (
  run_words(organization_id, id, kind, status, source, coalesce(agent_id, tool_id), trigger_id, api_key_id, user_id,
            size_facets, input, output, error_message)
) WITH (gin_pending_list_limit = 256) WHERE finished_at IS NOT NULL;

CREATE FUNCTION quote_lexeme(word text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '''' || replace(replace(word, '\', '\\'), '''', '''''') || ''''
$$;

-- What a search asks of one scope: every word of the text (of three letters and more, as the beginning of a word), and one
-- facet of each of the space-separated alternatives. Null when there is nothing to ask for, or a text without any word.
CREATE FUNCTION run_words_query(scope text, sought text, facets text[]) RETURNS tsquery
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN sought IS NOT NULL AND bool_and(NOT is_word) THEN NULL ELSE string_agg(part, ' & ') END::tsquery FROM (
    SELECT true AS is_word, quote_lexeme(scope || ':' || word) || CASE WHEN length(word) > 2 THEN ':*' ELSE '' END AS part
    FROM unnest(tsvector_to_array(to_tsvector('simple', coalesce(sought, '')))) AS word
    UNION ALL
    SELECT false, '(' || (SELECT string_agg(quote_lexeme(scope || '=' || facet), ' | ')
                          FROM unnest(string_to_array(alternatives, ' ')) AS facet) || ')'
    FROM unnest(facets) AS alternatives
  ) parts
$$;
