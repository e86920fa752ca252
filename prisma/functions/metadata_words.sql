-- A run's metadata in the format of `run_index.words`: `#` and a hash for each key with its value. No word of a text has a `#`.
CREATE FUNCTION metadata_words(metadata text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT string_agg('#' || md5(length(key)::text || ':' || key || value), ' ') FROM json_each_text(metadata::json)
$$;
