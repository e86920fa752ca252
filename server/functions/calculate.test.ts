import { describe, expect, test } from "vitest";
import { executeFunction } from "@/server/functions/execute";
import { testFunctionContext } from "@/server/testing/function-context";

const calculate = (expression: string) => executeFunction("calculate", { expression }, testFunctionContext());

describe("calculate", () => {
  test.each<[string, number | string]>([
    ["17 * 23", 391],
    ["0.1 + 0.2", 0.3],
    ["1/3", 1 / 3],
    ["2^10", 1024],
    ["2 ** 3", 8],
    ["2^100", "1267650600228229401496703205376"],
    ["9007199254740993 + 0", "9007199254740993"],
    ["1e300 * 1e300", "1e+600"],
    ["1e-400", "1e-400"],
    ["10 % 3", 1],
    ["20% * 50", 10],
    ["5!", 120],
    ["3(4 + 1) =", 15],
    ["12 × 3 ÷ 4 − 1", 8],
    ["round(2.567, 2)", 2.57],
    ["max(1, 7, 3) + min(2, 1)", 8],
    ["log(8, 2)", 3],
    ["gcd(12, 18) + lcm(4, 6)", 18],
    ["2 * pi", 2 * Math.PI],
    ["-0", 0],
  ])("%s = %s", async (expression, expected) => {
    expect(await calculate(expression)).toBe(expected);
  });

  test.each<[string, RegExp]>([
    ["1 / 0", /not a finite number/],
    ["sqrt(-1)", /not a real number/],
    ["9^9^9^9", /not a finite number/],
    ["2 +", /Unexpected end|Value expected/],
    ["1,234 + 1", /Unexpected/],
    ["x + 1", /"x" is not known/],
    ["import(1)", /import is not known/],
    ["createUnit(1)", /createUnit is not known/],
    ['evaluate("1")', /evaluate is not known/],
    ["a = 3", /only arithmetic/],
    ["f(x) = f(x)", /only arithmetic/],
    ["[1, 2]", /only arithmetic/],
    ["1:1000000000", /only arithmetic/],
    ["ones(10000, 10000)", /ones is not known/],
    ["5 cm", /"cm" is not known/],
    ["constructor", /"constructor" is not known/],
    ["pi.constructor", /only arithmetic/],
    ["pi.constructor(1)", /is not known|only arithmetic/],
    ['"text"', /only numbers/],
    ["1000000000!", /factorial/],
    ["mod(1e1999, 7)", /10\^60/],
    ["1e1999 % 7", /10\^60/],
    ["1 ".repeat(480), /too many parts|Unexpected/],
  ])("%s is refused", async (expression, message) => {
    await expect(calculate(expression)).rejects.toThrow(message);
  });

  test("hostile expressions end quickly", async () => {
    const started = Date.now();
    const hostile = [
      `${"(".repeat(990)}1`,
      `${"-".repeat(900)}1`,
      `2${"^2".repeat(300)}`,
      `1${"!".repeat(200)}`,
      `${"sin(".repeat(190)}1e1999${")".repeat(190)}`,
      `${"exp(".repeat(190)}1${")".repeat(190)}`,
      `${"700! * ".repeat(120)}1`,
      "tan(1e1999) ^ 0.1234567",
    ];
    for (const expression of hostile) await calculate(expression).catch(() => undefined);
    expect(Date.now() - started).toBeLessThan(2500);
  });

  test("input that does not fit is named", async () => {
    await expect(executeFunction("calculate", {}, testFunctionContext())).rejects.toThrow(
      /input of calculate is invalid: \/expression/,
    );
    await expect(calculate("1".repeat(1001))).rejects.toThrow(/\/expression/);
  });
});
