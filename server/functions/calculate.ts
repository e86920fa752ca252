import type { BigNumber, MathJsInstance, MathNode } from "mathjs";
import { z } from "zod";
import { defineFunction } from "@/server/functions/define";

const MAX_LENGTH = 1000;
const MAX_NODES = 400;
/** Significant decimal digits of every intermediate result. */
const PRECISION = 64;
/** Beyond 10^2000 a number is infinite: no operation ever works on millions of digits. */
const MAX_EXPONENT = 2000;
const MAX_FACTORIAL = 700;

const OPERATORS = new Set([
  "add",
  "subtract",
  "multiply",
  "divide",
  "pow",
  "mod",
  "unaryMinus",
  "unaryPlus",
  "factorial",
]);
const FUNCTIONS = new Set(
  (
    "abs acos asin atan atan2 cbrt ceil cos exp factorial floor gcd lcm log log10 log2 max mean median min mod " +
    "pow round sign sin sqrt tan"
  ).split(" "),
);
const CONSTANTS = new Set(["pi", "e"]);

let loading: Promise<MathJsInstance> | undefined;

/** mathjs with decimal numbers, loaded at the first calculation. */
function loadMath(): Promise<MathJsInstance> {
  loading ??= import("mathjs").then(({ create, all }) => {
    const math = create(all ?? {}, { number: "BigNumber", precision: PRECISION });
    const Decimal = z
      .custom<{ config(options: object): void }>((value) => typeof value === "function")
      .parse(math.bignumber(1).constructor);
    Decimal.config({ maxE: MAX_EXPONENT, minE: -MAX_EXPONENT });
    const { mod, gcd, lcm } = math;
    const limit = math.bignumber("1e60");
    const bound = (...values: BigNumber[]) => {
      if (values.some((value) => value.abs().greaterThan(limit))) {
        throw new Error("mod, gcd and lcm take numbers up to 10^60");
      }
    };
    math.import(
      {
        factorial: math.typed("factorial", {
          ["BigNumber"]: (n: BigNumber) => {
            if (!n.isInteger() || n.isNegative() || n.greaterThan(MAX_FACTORIAL)) {
              throw new Error(`a factorial takes a whole number from 0 to ${MAX_FACTORIAL}`);
            }
            let product = math.bignumber(1);
            for (let i = 2; n.greaterThanOrEqualTo(i); i += 1) product = product.times(i);
            return product;
          },
        }),
        exp: math.typed("exp", {
          ["BigNumber"]: (power: BigNumber) => {
            // decimal.js takes seconds to find out that such a power is out of range.
            if (power.abs().greaterThan(5000)) return math.bignumber(power.isNegative() ? 0 : Infinity);
            return power.exp();
          },
        }),
        mod: math.typed("mod", {
          "BigNumber, BigNumber": (a: BigNumber, b: BigNumber) => {
            bound(a, b);
            return mod(a, b);
          },
        }),
        gcd: (...values: BigNumber[]) => {
          bound(...values);
          return gcd(...values);
        },
        lcm: (...values: BigNumber[]) => {
          bound(...values);
          return values.length === 1 ? values[0] : values.reduce((a, b) => lcm(a, b));
        },
      },
      { override: true },
    );
    return math;
  });
  return loading;
}

/** Refuses all but plain arithmetic: no assignments, units, matrices, texts, or functions beyond the list. */
function checkNodes(math: MathJsInstance, root: MathNode): void {
  let count = 0;
  root.traverse((node, path, parent) => {
    count += 1;
    if (count > MAX_NODES) throw new Error("the expression has too many parts");
    if (math.isParenthesisNode(node)) return;
    if (math.isConstantNode(node)) {
      const value: unknown = node.value;
      if (math.isBigNumber(value) || typeof value === "number") return;
      throw new Error("only numbers can be calculated with");
    }
    if (math.isOperatorNode(node)) {
      if (OPERATORS.has(node.fn)) return;
      throw new Error(`the operator ${node.op} is not known here`);
    }
    if (math.isFunctionNode(node)) {
      if (math.isSymbolNode(node.fn) && FUNCTIONS.has(node.fn.name)) return;
      throw new Error(`the function ${String(node.fn.name).slice(0, 50)} is not known here`);
    }
    if (math.isSymbolNode(node)) {
      const called = parent !== null && math.isFunctionNode(parent) && path === "fn";
      if (called || CONSTANTS.has(node.name)) return;
      throw new Error(`"${node.name.slice(0, 50)}" is not known here; only numbers, pi and e`);
    }
    throw new Error("only arithmetic is understood: + - * / ^ % ! ( ) and functions such as sqrt and round");
  });
}

/** Signs that people and models write for operators. */
function normalise(expression: string): string {
  return expression
    .replace(/[×·⋅]/g, "*")
    .replace(/÷/g, "/")
    .replace(/[−–]/g, "-")
    .replaceAll("**", "^")
    .replace(/π/g, "pi")
    .replace(/[\s=]+$/, "");
}

/** A double where it says the same, else the decimal digits as text. */
function toResult(value: BigNumber): number | string {
  if (!value.isFinite())
    throw new Error("the result is not a finite number (a division by zero, or too large)");
  if (value.abs().greaterThan(Number.MAX_SAFE_INTEGER)) {
    return value.e < PRECISION ? value.toFixed() : value.toString();
  }
  const double = Number(value.toString());
  if (double === 0 && !value.isZero()) return value.toString();
  return double === 0 ? 0 : double;
}

/** Exact decimal arithmetic on 64 digits. */
export const calculate = defineFunction({
  name: "calculate",
  description:
    "Calculates an arithmetic expression exactly, with decimal numbers: + - * / ^ % ! ( ), sqrt, round, min, max, log, sin and the like. " +
    "Gives a number, or its digits as text when it is too large or too small for one.",
  input: z.object({
    expression: z
      .string()
      .min(1)
      .max(MAX_LENGTH)
      .describe('The expression, such as "(17 * 23) / 4" or "round(2/3, 2)".'),
  }),
  timeoutMs: 5000,
  async run({ expression }) {
    const math = await loadMath();
    try {
      const node = math.parse(normalise(expression));
      checkNodes(math, node);
      const value: unknown = node.compile().evaluate({});
      if (math.isBigNumber(value)) return toResult(value);
      if (typeof value === "number") return toResult(math.bignumber(value));
      throw new Error("the result is not a real number");
    } catch (error) {
      const reason = error instanceof Error ? error.message : "it cannot be read";
      throw new Error(`"${expression.slice(0, 200)}" cannot be calculated: ${reason.slice(0, 300)}`);
    }
  },
});
