-- The index of ended runs.
--
-- A start and an end write to as few indexes of `runs` as possible. What lists, filters and searches need stands in
-- `run_index`, one row per ended run. The statement that ends a run adds a row to `run_index_queue`; a background job
-- (server/runs/run-index.ts) moves queued runs into `run_index` in batches. At any moment an ended run is either in the queue
-- or in `run_index`, so a reader that asks both in one statement finds each run once.
SET LOCAL maintenance_work_mem = '256MB';

DROP INDEX runs_organization_id_status_id_idx;
DROP INDEX runs_organization_id_source_id_idx;
DROP INDEX runs_organization_id_agent_id_id_idx;
DROP INDEX runs_organization_id_tool_id_id_idx;
DROP INDEX runs_organization_id_trigger_id_id_idx;
DROP INDEX runs_organization_id_api_key_id_id_idx;
DROP INDEX runs_to_retire;
DROP INDEX runs_words;
DROP FUNCTION run_words(uuid, uuid, run_kind, run_status, run_source, uuid, uuid, uuid, uuid, text, text, text, text);
ALTER TABLE runs DROP COLUMN size_facets;

-- Most runs have no parent.
DROP INDEX runs_parent_run_id_idx;
CREATE INDEX runs_parent_run_id_idx ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

-- The open runs of an organization, for lists, metrics and the balance.
DROP INDEX runs_in_flight;
CREATE INDEX runs_open ON runs (organization_id, id) WHERE status IN ('Pending', 'Running');

-- Ended runs that `run_index` does not hold yet. No index: the table is short, and every end of a run writes to it.
CREATE TABLE run_index_queue (
    "run_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- `duration_ms` is null if the run never started. `words` holds the keys of run_text_keys, separated by spaces.
CREATE TABLE run_index (
    "run_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "kind" "run_kind" NOT NULL,
    "status" "run_status" NOT NULL,
    "source" "run_source" NOT NULL,
    "target_id" UUID NOT NULL,
    "trigger_id" UUID,
    "api_key_id" UUID,
    "user_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" BIGINT,
    "tokens" BIGINT NOT NULL,
    "credits" DECIMAL(18,4) NOT NULL,
    "words" TEXT NOT NULL,

    CONSTRAINT "run_index_pkey" PRIMARY KEY ("run_id")
);
ALTER TABLE "run_index" ADD CONSTRAINT "run_index_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- One condition at any time is answered by a walk along one of these.
CREATE INDEX "run_index_organization_id_status_run_id_idx" ON "run_index"("organization_id", "status", "run_id" DESC);
CREATE INDEX "run_index_organization_id_source_run_id_idx" ON "run_index"("organization_id", "source", "run_id" DESC);
CREATE INDEX "run_index_organization_id_target_id_run_id_idx" ON "run_index"("organization_id", "target_id", "run_id" DESC);
CREATE INDEX "run_index_trigger" ON "run_index"("organization_id", "trigger_id", "run_id" DESC) WHERE "trigger_id" IS NOT NULL;
CREATE INDEX "run_index_api_key" ON "run_index"("organization_id", "api_key_id", "run_id" DESC) WHERE "api_key_id" IS NOT NULL;

-- A word or a combination of conditions is answered by an inverted index of terms. Each term begins with a scope: the end of the
-- organization's id and the first 21 bits of the run's id, which is a UUID v7. A scope holds the runs that one organization
-- started within a day and a half (2^27 ms). A search asks one scope after the other, from the newest, until its page is full.
-- Words are `scope:word`; facets (status, kind, source, target, …) are `scope=facet`.
CREATE FUNCTION run_scope(organization_id uuid, id uuid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT right(organization_id::text, 6) || left(id::text, 5) || CASE WHEN substr(id::text, 6, 1) < '8' THEN '0' ELSE '8' END
$$;

-- Whether a text has letters of a script that is written without spaces (Chinese, Japanese, Thai, Khmer, …).
CREATE OR REPLACE FUNCTION is_unspaced(content text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT octet_length(content) > length(content) AND content ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]'
$$;

-- The words of a text, once each, in lower case. Spaces, punctuation, symbols and control characters separate words. Letters of
-- scripts without spaces form words of their own, apart from letters of other scripts. All ranges are spelled out, because the
-- meaning of a class such as [[:alnum:]] depends on the database's locale.
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

-- The keys under which a text is found; some may occur twice:
-- - its words, cut to 200 letters, which is the longest text that a search accepts;
-- - both halves of letters with a number (`v1`, `A1234`, `10kg`);
-- - for scripts without spaces, each two neighbouring letters, and the last letter.
CREATE OR REPLACE FUNCTION run_text_keys(content text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words text[];
  spaced text[];
  keys text[];
BEGIN
  IF strpos(content, '\') > 0 THEN
    -- JSON writes a line break as a backslash and a letter. The letter is no part of the word that follows. In `C:\new` it is.
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
    -- The costly match runs only for words with a digit at one end.
    WHERE (ascii(word) BETWEEN 48 AND 57) <> (ascii(right(word, 1)) BETWEEN 48 AND 57) AND length(word) <= 200 AND half IS NOT NULL
  );
END $$;

-- What a search asks of one scope: each word of the text, and one facet of each of the space-separated alternatives. A word of
-- three letters or more matches as a beginning; in scripts without spaces, each two neighbouring letters match. Null if there is
-- nothing to ask for, or if the text has no word.
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

-- The searchable start of a run's texts, and its keys as `run_index.words` holds them.
CREATE FUNCTION run_text(input text, output text, error_message text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT left(input, 8192) || ' ' || left(coalesce(output, ''), 8192) || ' ' || left(coalesce(error_message, ''), 2048)
$$;
CREATE FUNCTION run_keys(input text, output text, error_message text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_string(run_text_keys(run_text(input, output, error_message)), ' ')
$$;

-- Puts a prefix before each of some words that are separated by spaces.
CREATE FUNCTION prefix_words(prefix text, words text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN words = '' THEN '{}' ELSE string_to_array(prefix || replace(words, ' ', ' ' || prefix), ' ') END
$$;

-- The terms of an entry of `run_index`. Durations, tokens and credits are facets of classes: `d14`, `t9`, `c22` (milliseconds,
-- tokens, ten-thousandths of a credit). plpgsql and a high cost: the planner must neither inline this function nor think it cheap
-- to call it for every row. It has a search path of its own because PostgreSQL builds an index without this schema in it.
CREATE FUNCTION run_terms(
  organization_id uuid, run_id uuid, kind run_kind, status run_status, source run_source, target_id uuid, trigger_id uuid,
  api_key_id uuid, user_id uuid, duration_ms bigint, tokens bigint, credits numeric, words text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 SET search_path FROM CURRENT AS $$
DECLARE
  scope text := run_scope(organization_id, run_id);
  facets text := concat_ws(
    ' ', kind, status, source, target_id, trigger_id, api_key_id, user_id,
    'd' || run_size_class(coalesce(duration_ms, 0)::float8), 't' || run_size_class(tokens::float8),
    'c' || run_size_class((credits * 10000)::float8)
  );
BEGIN
  RETURN array_to_tsvector(prefix_words(scope || ':', words) || prefix_words(scope || '=', facets));
END $$;

-- Whether a run's words, as `run_index.words` holds them, fit a query of run_words_query with an empty scope. For a few rows.
CREATE FUNCTION words_fit(words text, query tsquery) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_tsvector(prefix_words(':', words)) @@ query
$$;

-- Every search reads the entries that wait to be sorted in, scope by scope; the background job sorts them in after each batch.
CREATE INDEX run_index_terms ON run_index USING gin (
  run_terms(organization_id, run_id, kind, status, source, target_id, trigger_id, api_key_id, user_id, duration_ms, tokens, credits, words)
);

-- Runs that ended before this migration.
INSERT INTO run_index_queue (run_id, organization_id) SELECT id, organization_id FROM runs WHERE finished_at IS NOT NULL ORDER BY id;
