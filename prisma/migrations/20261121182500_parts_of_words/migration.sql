-- Words are found wherever they stand: in numbers and names with dashes, addresses, paths, versions, tags, and behind the
-- line breaks of JSON. PostgreSQL's parser took a word with what it thought to be its whole (`-1234`, `ada@example.com`,
-- `/a/b.txt`), and what it took depended on the text around it, so that a part, or the same typed alone, was another word.
SET LOCAL maintenance_work_mem = '256MB';
DROP INDEX runs_words;

-- Whether a text has letters of a script without blanks; a word of run_text_words has none else then.
CREATE FUNCTION is_unspaced(content text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT octet_length(content) > length(content) AND content ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]'
$$;

-- The words of a text, once each, in lower case: what stands between blanks, punctuation, symbols and control characters.
-- Letters of scripts that put no blanks between words (Chinese, Japanese, Thai, Khmer, …) stand apart from those of others.
-- All ranges are spelled out: what a class like [[:alnum:]] holds depends on the database's locale.
CREATE OR REPLACE FUNCTION run_text_words(content text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  plain text := regexp_replace(lower(content), '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7'
    '\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3030\u30fb\ufe10-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufeff\U0001f000-\U0001faff]+', ' ', 'g');
BEGIN
  IF is_unspaced(plain) THEN
    plain := regexp_replace(plain, '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+)', ' \1 ', 'g');
  END IF;
  RETURN ARRAY(SELECT DISTINCT word FROM unnest(string_to_array(plain, ' ')) AS word WHERE word <> '');
END $$;

-- Under which words a text is found: its words (of each the first 200 letters, which is as much as can be asked for); both
-- halves of letters with a number (`v1`, `A1234`, `10kg`); each two neighbours in a script without blanks, and the last one.
-- Some may come twice.
CREATE FUNCTION run_text_keys(content text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words text[];
  spaced text[];
  keys text[];
BEGIN
  IF strpos(content, '\') > 0 THEN
    -- JSON writes a line break with a letter, which does not belong to the word behind it. In `C:\new` it does.
    content := regexp_replace(content, '\\[nrtbf]', ' ', 'g') || ' ' || coalesce(
      (SELECT string_agg(behind[1], ' ') FROM regexp_matches(content, '\\([nrtbf][^\s\\"]+)', 'g') AS behind), '');
  END IF;
  words := run_text_words(content);
  IF is_unspaced(content) THEN
    spaced := ARRAY(SELECT word FROM unnest(words) AS word WHERE NOT is_unspaced(word));
    keys := ARRAY(
      SELECT substr(word, at, 2) FROM unnest(words) AS word, generate_series(1, length(word)) AS at WHERE is_unspaced(word)
    );
  ELSE
    spaced := words;
  END IF;
  RETURN keys || ARRAY(SELECT left(word, 200) FROM unnest(spaced) AS word) || ARRAY(
    SELECT half FROM unnest(spaced) AS word,
      unnest(regexp_match(word, '^([^0-9]+)([0-9]+)$|^([0-9]+)([^0-9]+)$')) AS half
    -- The dear look is only at those with a digit at one end.
    WHERE (ascii(word) BETWEEN 48 AND 57) <> (ascii(right(word, 1)) BETWEEN 48 AND 57) AND length(word) <= 200 AND half IS NOT NULL
  );
END $$;

-- plpgsql and a high cost: the planner must neither inline this nor think it cheap to run over every row. With a search
-- path of its own: an index is built without this schema in it.
CREATE OR REPLACE FUNCTION run_words(
  organization_id uuid, id uuid, kind run_kind, status run_status, source run_source, target_id uuid, trigger_id uuid,
  api_key_id uuid, user_id uuid, size_facets text, input text, output text, error_message text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 SET search_path FROM CURRENT AS $$
DECLARE
  scope text := right(organization_id::text, 6) || left(id::text, 5) || CASE WHEN substr(id::text, 6, 1) < '8' THEN '0' ELSE '8' END;
  facets text[] := ARRAY[kind::text, status::text, source::text] || string_to_array(size_facets, ' ');
  words text[] := run_text_keys(
    left(input, 8192) || ' ' || left(coalesce(output, ''), 8192) || ' ' || left(coalesce(error_message, ''), 2048)
  );
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

-- What a search asks of one scope: every word of the text (of three letters and more, as the beginning of a word; in a
-- script without blanks, each two neighbours), and one facet of each of the space-separated alternatives. Null when there is
-- nothing to ask for, or a text without any word.
CREATE OR REPLACE FUNCTION run_words_query(scope text, sought text, facets text[]) RETURNS tsquery
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN sought IS NOT NULL AND bool_and(NOT is_word) THEN NULL ELSE string_agg(part, ' & ') END::tsquery FROM (
    SELECT true AS is_word, quote_lexeme(scope || ':' || key) || CASE WHEN is_beginning THEN ':*' ELSE '' END AS part
    FROM unnest(run_text_words(coalesce(sought, ''))) AS word CROSS JOIN LATERAL (
      SELECT left(word, 200) AS key, length(word) > 2 AS is_beginning WHERE NOT is_unspaced(word)
      UNION ALL
      SELECT substr(word, at, 2), length(word) = 1 FROM generate_series(1, greatest(1, length(word) - 1)) AS at WHERE is_unspaced(word)
    ) keys
    UNION ALL
    SELECT false, '(' || (SELECT string_agg(quote_lexeme(scope || '=' || facet), ' | ')
                          FROM unnest(string_to_array(alternatives, ' ')) AS facet) || ')'
    FROM unnest(facets) AS alternatives
  ) parts
$$;
