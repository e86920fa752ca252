import { threadOf } from "@/server/sandbox/thread-pool";

/**
 * The thread for JSON Schemas (schema.ts): Ajv, which compiles a schema and applies it to a value. A request is
 * `{schema}`, to check the schema itself, or `{schema, value}`, all JSON texts. The response has Ajv's errors; its fault is
 * the reason why the schema cannot be compiled.
 */
export const SCHEMA_THREAD = threadOf(`(data) => {
  const { Ajv2020 } = require(data.ajv);
  const addFormats = require(data.formats);
  const { options, maxErrors, allErrorsLength } = data;
  const MAX_COMPILED = 50;

  const createAjv = (allErrors) => addFormats(new Ajv2020({ ...options, allErrors }));
  const ajvs = { first: createAjv(false), all: createAjv(true) };
  const compiled = { first: new Map(), all: new Map() };

  /** Validators of the schemas used last. Ajv keeps what it compiles by identity until it is taken out again. */
  function compile(kind, text) {
    const cache = compiled[kind];
    let validate = cache.get(text);
    if (validate === undefined) {
      const schema = JSON.parse(text);
      validate = ajvs[kind].compile(schema);
      ajvs[kind].removeSchema(schema);
    }
    cache.delete(text);
    cache.set(text, validate);
    if (cache.size > MAX_COMPILED) cache.delete(cache.keys().next().value);
    return validate;
  }

  function findErrors({ schema, value }) {
    if (value === undefined) {
      if (!ajvs.all.validateSchema(JSON.parse(schema))) return ajvs.all.errors;
      compile("first", schema);
      return [];
    }
    const parsed = JSON.parse(value);
    const first = compile("first", schema);
    if (first(parsed)) return [];
    if (value.length > allErrorsLength) return first.errors;
    const all = compile("all", schema);
    all(parsed);
    return all.errors;
  }

  return (request) => (findErrors(request) ?? []).slice(0, maxErrors);
}`);
