import { type Path, schemasAt } from "@/app/_ui/editor/text/schema";

const SCHEMA = { $ref: "#/$defs/schema" };
const SCHEMAS = { type: "array", items: SCHEMA };
const NAMED = { type: "object", additionalProperties: SCHEMA };
const NUMBER = { type: "number" };
const WHOLE = { type: "integer" };
const about = (description: string, schema: object) => ({ ...schema, description });

const KEYWORDS = {
  ...SCHEMA,
  $defs: {
    schema: {
      type: "object",
      properties: {
        type: { enum: ["string", "number", "integer", "boolean", "array", "object", "null"] },
        title: about("What people call the value.", { type: "string" }),
        description: about("Forms and models read it.", { type: "string" }),
        properties: about("The schema of each property.", NAMED),
        required: about("The names of properties that must be there.", { type: "array" }),
        additionalProperties: about("Whether other properties may be there, or their schema.", {
          anyOf: [{ type: "boolean" }, SCHEMA],
        }),
        items: about("The schema of each item of a list.", SCHEMA),
        enum: about("The only values that are allowed.", { type: "array" }),
        const: about("The only value that is allowed.", {}),
        default: about("The value that forms begin with.", {}),
        examples: about("Values that forms show.", { type: "array" }),
        format: { enum: ["date", "time", "date-time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"] },
        pattern: about("A regular expression that the text must match.", { type: "string" }),
        minLength: WHOLE,
        maxLength: WHOLE,
        minimum: NUMBER,
        maximum: NUMBER,
        exclusiveMinimum: NUMBER,
        exclusiveMaximum: NUMBER,
        multipleOf: NUMBER,
        minItems: WHOLE,
        maxItems: WHOLE,
        uniqueItems: { type: "boolean" },
        anyOf: about("At least one of these schemas must match.", SCHEMAS),
        oneOf: about("Exactly one of these schemas must match.", SCHEMAS),
        allOf: about("All of these schemas must match.", SCHEMAS),
        not: about("This schema must not match.", SCHEMA),
        $ref: about("The address of another schema, such as #/$defs/address.", { type: "string" }),
        $defs: about("Schemas that others refer to.", NAMED),
      },
    },
  },
};

export const keywordsAt = (path: Path) => ({ anyOf: schemasAt(KEYWORDS, path) });
