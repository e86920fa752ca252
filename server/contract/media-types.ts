export const JSON_TYPE = "application/json";
/** Of our own answers. */
export const JSON_CONTENT = `${JSON_TYPE}; charset=utf-8`;
export const PROBLEM_TYPE = "application/problem+json";
/** RFC 9512. */
export const YAML_TYPE = "application/yaml";
export const FORM_TYPE = "application/x-www-form-urlencoded";
export const EVENTS_TYPE = "text/event-stream";
