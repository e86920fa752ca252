import { expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";

const transform = (value: Json, expression: string) =>
  executeFunction("transform_json", { input: { value, expression }, context: testFunctionContext() });

test("selects and reshapes", async () => {
  expect(await transform({ current: { temp: 7 } }, "{ 'tempC': current.temp }")).toEqual({ tempC: 7 });
  expect(await transform([{ a: 1 }, { a: 2 }], "a")).toEqual([1, 2]);
  expect(await transform(null, "1")).toBe(1);
});

test("nothing found is null, and a value is required", async () => {
  expect(await transform({}, "missing")).toBeNull();
  await expect(
    executeFunction("transform_json", { input: { expression: "1" }, context: testFunctionContext() }),
  ).rejects.toThrow("/value");
});
