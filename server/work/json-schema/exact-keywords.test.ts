import { expect, test } from "vitest";
import { isJsonObject, readJson } from "@/server/base/json/json";
import { checkSchema, validateAgainst } from "./schema";

async function check(schema: string, value: string): Promise<string[]> {
  const parsed = readJson(schema);
  if (!isJsonObject(parsed)) throw new Error("no schema");
  expect(await checkSchema(parsed, "org-1")).toEqual([]);
  const issues = await validateAgainst(parsed, readJson(value), "org-1");
  return issues.map(({ path, message }) => `${path} ${message}`.trim());
}

const BIG = "8202522731445525542";
const NEXT = "8202522731445525543";

test.each([
  ['{"type":"integer"}', BIG, []],
  ['{"type":"number"}', "0.12345678901234567891", []],
  ['{"type":"integer"}', "9007199254740993.5", ["must be integer"]],
  ['{"type":"integer"}', "1.00000000000000000001", ["must be integer"]],
  ['{"type":"integer"}', "1.00000000000000000000", []],
  ['{"type":["string","object","boolean"]}', BIG, ["must be string,object,boolean"]],
  [`{"maximum":${BIG}}`, BIG, []],
  [`{"maximum":${BIG}}`, NEXT, [`must be <= ${BIG}`]],
  [`{"exclusiveMaximum":${BIG}}`, BIG, [`must be < ${BIG}`]],
  [`{"minimum":${NEXT}}`, BIG, [`must be >= ${NEXT}`]],
  [`{"exclusiveMinimum":-${NEXT}}`, `-${BIG}`, []],
  [`{"minimum":0.1}`, "0.0999999999999999999999", ["must be >= 0.1"]],
  [`{"minimum":0}`, "-1e-400", ["must be >= 0"]],
  [`{"maximum":9223372036854775807}`, "9223372036854776000", ["must be <= 9223372036854775807"]],
  [`{"maximum":9223372036854775807}`, "5", []],
  ['{"multipleOf":2}', BIG, []],
  ['{"multipleOf":2}', NEXT, ["must be multiple of 2"]],
  ['{"multipleOf":0.01}', "12345678901234567.89", []],
  ['{"multipleOf":0.01}', "12345678901234567.891", ["must be multiple of 0.01"]],
  [`{"const":${BIG}}`, BIG, []],
  [`{"const":{"id":[${BIG}]}}`, `{"id":[${NEXT}]}`, [`must be {"id":[${BIG}]}`]],
  [`{"enum":[1,${BIG}]}`, `${BIG}.0`, []],
  [`{"enum":[1,${BIG}]}`, NEXT, [`must be one of [1,${BIG}]`]],
  ['{"uniqueItems":true}', `[${BIG},${NEXT}]`, []],
  ['{"uniqueItems":true}', `[${BIG},${BIG}]`, ["must NOT have duplicate items"]],
  [
    `{"properties":{"a/b":{"type":"array","items":{"maximum":${BIG},"maxLength":${NEXT}}}}}`,
    `{"a/b":[1,${BIG},${NEXT},"x"]}`,
    [`/a~1b/2 must be <= ${BIG}`],
  ],
])("%s with %s: %j", async (schema, value, issues) => {
  expect(await check(schema, value)).toEqual(issues);
});

test("the exponent of a number costs nothing", async () => {
  expect(await check('{"multipleOf":1e-300}', "12345678901234567890")).toEqual([]);
  expect(await check('{"minimum":1e-999999999}', "1e-999999998")).toEqual([]);
  expect(await check('{"multipleOf":3}', "1e-999999999")).toEqual(["must be multiple of 3"]);
});
