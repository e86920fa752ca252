import {
  type CreateNodeOptions,
  Document,
  type DocumentOptions,
  type ScalarTag,
  type SchemaOptions,
} from "yaml";
import { isExactNumber } from "@/server/base/json/exact-number";

/** Writes a number that a double cannot hold as its digits. `readYaml` reads them. */
const exactNumber: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: isExactNumber,
  stringify: ({ value }) => String(value),
  resolve: (text) => text,
};

export const YAML_OPTIONS: DocumentOptions & SchemaOptions & CreateNodeOptions = {
  aliasDuplicateObjects: false,
  keepUndefined: false,
  customTags: (tags) => [exactNumber, ...tags],
};

/** A value as a YAML document. */
export const createYaml = (value: unknown): Document => new Document(value, YAML_OPTIONS);
