import { Document, isScalar, type Scalar, type ScalarTag, type Tags } from "yaml";
import { isExactNumber } from "@/server/base/json/exact-number";

// Writes a number that a double cannot hold as its digits, which `readYaml` reads.
const exactNumber: ScalarTag = {
  tag: "!exact",
  default: true,
  identify: isExactNumber,
  stringify: ({ value }) => String(value),
  resolve: (text) => text,
};

const NUMBERS = new Set(["tag:yaml.org,2002:int", "tag:yaml.org,2002:float"]);

/** Tags that write exact numbers, and each number that was read as it was written, unless its value was changed. */
export const keepDigits = (tags: Tags): Tags => [
  exactNumber,
  ...tags.map((tag) => {
    if (typeof tag === "string" || tag.collection !== undefined || !NUMBERS.has(tag.tag)) return tag;
    const { stringify } = tag;
    const keep: ScalarTag["stringify"] = (item, ...others) =>
      isUnchanged(item) ? item.source : (stringify?.(item, ...others) ?? String(item.value));
    return { ...tag, stringify: keep };
  }),
];

const isUnchanged = (item: Scalar): item is Scalar & { source: string } =>
  isScalar(item) && item.source !== undefined && Number(item.source) === item.value;

// As a plain key, << would merge a map.
const mergeText: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => value === "<<",
  stringify: () => '"<<"',
  resolve: (text) => text,
};

/** Also for readers of YAML 1.1, to which 10:00 is the number 600 (eemeli/yaml#619) and `no` is false. */
export const createYaml = (value: unknown): Document =>
  new Document(value, {
    compat: "yaml-1.1",
    aliasDuplicateObjects: false,
    keepUndefined: false,
    customTags: (tags) => [mergeText, ...keepDigits(tags)],
  });

/** A value as YAML text, as editors and definition files show it. */
export const writeYaml = (value: unknown): string => createYaml(value).toString({ lineWidth: 0 }).trimEnd();
