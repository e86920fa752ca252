import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";

const calculate = (expression: string) =>
  executeFunction("calculate", { input: { expression }, context: testFunctionContext() });

describe("calculate", () => {
  test.each<[string, number | string]>([
    ["17 * 23", 391],
    ["0.1 + 0.2", 0.3],
    ["1/3", 1 / 3],
    ["2^10", 1024],
    ["2 ** 3", 8],
    ["2^3^2", 512],
    ["-2^2", -4],
    ["2^-1", 0.5],
    ["10 - 4 - 3", 3],
    ["100 / 10 / 2", 5],
    ["2 + 3 * 4", 14],
    ["2^100", "1267650600228229401496703205376"],
    ["9007199254740993 + 0", "9007199254740993"],
    ["1e300 * 1e300", "1e+600"],
    ["1e-400", "1e-400"],
    [".5 + 1.", 1.5],
    ["10 % 3", 1],
    ["-7 % 3", 2],
    ["20% * 50", 10],
    ["20% of 50", 10],
    ["100 + 10%", 110],
    ["200 - 25% - 10%", 135],
    ["5% + 5%", 0.1],
    ["5!", 120],
    ["3!!", 720],
    ["2^3!", 64],
    ["3(4 + 1) =", 15],
    ["(2)(3)", 6],
    ["2 pi", 2 * Math.PI],
    ["12 × 3 ÷ 4 − 1", 8],
    ["What", Number.NaN],
    ["round(2.567, 2)", 2.57],
    ["round(-2.5)", -2],
    ["round(1234, -2)", 1200],
    ["floor(-2.5) + ceil(2.1) + trunc(-1.9)", -1],
    ["max(1, 7, 3) + min(2, 1)", 8],
    ["mean(1, 2, 3, 6) + median(3, 1, 2) + sum(1, 2)", 8],
    ["log(8, 2)", 3],
    ["ln(e) + log10(1000)", 4],
    ["gcd(12, 18) + lcm(4, 6)", 18],
    ["sqrt(2)^2", 2],
    ["sin(pi / 2)", 1],
    ["abs(-3) + sign(-9)", 2],
    ["-0", 0],
  ])("%s = %s", async (expression, expected) => {
    if (Number.isNaN(expected)) await expect(calculate(expression)).rejects.toThrow("is unknown");
    else expect(await calculate(expression)).toBe(expected);
  });

  test.each<[string, RegExp]>([
    ["1 / 0", /a division by zero/],
    ["5 % 0", /division by zero/],
    ["sqrt(-1)", /not a real number/],
    ["9^9^9^9", /too large/],
    ["2 +", /ends too early/],
    ["(2", /ends too early/],
    ["2)", /should end here \(at character 2\)/],
    ["1,234 + 1", /should end here \(at character 2\)/],
    ["2 3", /should end here/],
    ["2 $ 3", /"\$" is not allowed here \(at character 3\)/],
    ["x + 1", /"x" is unknown/],
    ["import(1)", /function "import" is unknown/],
    ["constructor(1)", /function "constructor" is unknown/],
    ["__proto__", /"__proto__" is unknown/],
    ["a = 3", /is not allowed here|is unknown/],
    ["[1, 2]", /"\[" is not allowed here/],
    ['"text"', /is not allowed here/],
    ["round()", /round takes 1 to 2 numbers/],
    ["1000000000!", /factorial/],
    ["2.5!", /factorial/],
    ["mod(1e1999, 7)", /10\^60/],
    ["sin(1e1999)", /10\^30/],
    ["round(1, 1e9)", /60 places/],
  ])("%s is rejected", async (expression, message) => {
    await expect(calculate(expression)).rejects.toThrow(message);
  });

  test.each<[string, string]>([
    ["a nest", `${"(".repeat(990)}1`],
    ["many signs", `${"-".repeat(900)}1`],
    ["a tower of powers", `2${"^2".repeat(300)}`],
    ["a tower of fractional powers", `${"1.0001^0.5^".repeat(80)}2`],
    ["many factorials", `1${"!".repeat(200)}`],
    ["large factorials", `${"700! * ".repeat(120)}1`],
    ["nested sines", `${"sin(".repeat(190)}1${")".repeat(190)}`],
    ["nested tangents", `${"tan(".repeat(190)}1${")".repeat(190)}`],
    ["nested exponentials", `${"exp(".repeat(190)}1${")".repeat(190)}`],
    ["many logarithms", `0${"+log(1.1)".repeat(100)}`],
    ["many powers of huge numbers", `0${"+1e999^1.01".repeat(80)}`],
    ["many arcs", `0${"+acos(0.1)".repeat(90)}`],
    ["a huge exponent", "0.99999999999^1e15"],
    ["a huge fractional exponent", "1.00000001^123456789.123"],
    ["a root of a huge number", "cbrt(1e1999)^0.333"],
  ])("%s ends in time", async (_name, expression) => {
    await calculate(expression).catch((error: Error) =>
      expect(error.message).toContain("cannot be calculated"),
    );
    expect(await calculate("1 + 1")).toBe(2);
  });

  test("sums, differences and products are exact decimals", async () => {
    const cents = fc.integer({ min: -1_000_000, max: 1_000_000 });
    await fc.assert(
      fc.asyncProperty(cents, cents, cents, async (a, b, c) => {
        const text = (n: number) => `(${(n / 100).toFixed(2)})`;
        const exact = (a * 100 + b * c) / 10_000;
        expect(await calculate(`${text(a)} + ${text(b)} * ${text(c)}`)).toBeCloseTo(exact, 9);
        expect(await calculate(`${text(a)} - ${text(a)}`)).toBe(0);
      }),
    );
  });

  test("invalid input is named", async () => {
    await expect(executeFunction("calculate", { input: {}, context: testFunctionContext() })).rejects.toThrow(
      /input of calculate is invalid: \/expression/,
    );
    await expect(calculate("1".repeat(1001))).rejects.toThrow(/\/expression/);
  });
});
