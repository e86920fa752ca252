/**
 * The source of a function that takes decimal.js and returns the calculator. Precedence from low to high: + and -;
 * *, /, % (remainder) and juxtaposition; sign; ^ (right-associative); ! and % (percent). A text, because threads
 * have no modules of a bundle.
 */
export const CALCULATOR = `
((library) => {
  "use strict";
  const Decimal = library.clone({ precision: 64, maxE: 2000, minE: -2000, modulo: 3 });
  const MAX_EXACT = new Decimal("1e60");
  const PI = Decimal.acos(-1);
  const constants = new Map([["pi", PI], ["e", new Decimal(1).exp()], ["tau", PI.times(2)]]);

  class Issue extends Error {
    constructor(message, position) {
      super(message);
      this.position = position;
    }
  }

  const whole = (value, name) => {
    if (!value.isInteger()) throw new Issue(name + " takes whole numbers");
    return value;
  };
  const bounded = (value, name) => {
    if (value.abs().greaterThan(MAX_EXACT)) throw new Issue(name + " takes numbers up to 10^60");
    return value;
  };
  const mod = (a, b) => {
    if (b.isZero()) throw new Issue("a remainder of a division by zero");
    return bounded(a, "a remainder").mod(bounded(b, "a remainder"));
  };
  const gcd = (a, b) => {
    let [x, y] = [a, b].map((value) => whole(bounded(value, "gcd"), "gcd").abs());
    while (!y.isZero()) [x, y] = [y, x.mod(y)];
    return x;
  };
  const lcm = (a, b) => {
    const divisor = gcd(a, b);
    return divisor.isZero() ? divisor : a.div(divisor).times(b).abs();
  };
  const factorial = (n) => {
    if (!n.isInteger() || n.isNegative() || n.greaterThan(700)) {
      throw new Issue("a factorial takes a whole number from 0 to 700");
    }
    let product = new Decimal(1);
    for (let i = 2; n.greaterThanOrEqualTo(i); i += 1) product = product.times(i);
    return product;
  };
  const angle = (x) => {
    if (x.abs().greaterThan("1e30")) throw new Issue("an angle is at most 10^30");
    return x;
  };
  const round = (f) => (x, places) => {
    const digits = places === undefined ? 0 : whole(places, "rounding").toNumber();
    if (Math.abs(digits) > 60) throw new Issue("rounding goes to at most 60 places");
    const factor = new Decimal(10).pow(digits);
    return f(x.times(factor)).div(factor);
  };
  const sum = (...values) => values.reduce((a, b) => a.plus(b), new Decimal(0));
  const median = (...values) => {
    const sorted = values.sort((a, b) => a.comparedTo(b));
    const middle = Math.floor(sorted.length / 2);
    return sorted.length % 2 === 1 ? sorted[middle] : sorted[middle - 1].plus(sorted[middle]).div(2);
  };
  const halfUp = (x) => x.toDecimalPlaces(0, x.isNegative() ? Decimal.ROUND_HALF_DOWN : Decimal.ROUND_HALF_UP);

  const add = (names, least, most, create) => names.map((name) => [name, [least, most, create(name)]]);
  const functions = new Map([
    ...add(["abs", "acos", "asin", "atan", "cbrt", "exp", "ln", "sqrt"], 1, 1, (name) => (x) => x[name]()),
    ...add(["cos", "sin", "tan"], 1, 1, (name) => (x) => angle(x)[name]()),
    ...add(["ceil", "floor", "trunc"], 1, 2, (name) => round((x) => x[name]())),
    ...add(["hypot", "max", "min"], 1, 99, (name) => (...values) => Decimal[name](...values)),
    ["atan2", [2, 2, (y, x) => Decimal.atan2(y, x)]],
    ["factorial", [1, 1, factorial]],
    ["gcd", [1, 99, (...values) => values.reduce(gcd, new Decimal(0))]],
    ["lcm", [1, 99, (...values) => values.reduce(lcm)]],
    ["log", [1, 2, (x, base) => (base === undefined ? x.ln() : x.log(base))]],
    ["log10", [1, 1, (x) => x.log(10)]],
    ["log2", [1, 1, (x) => x.log(2)]],
    ["mean", [1, 99, (...values) => sum(...values).div(values.length)]],
    ["median", [1, 99, median]],
    ["mod", [2, 2, mod]],
    ["pow", [2, 2, (x, y) => x.pow(y)]],
    ["round", [1, 2, round(halfUp)]],
    ["sign", [1, 1, (x) => new Decimal(x.isZero() ? 0 : x.isNegative() ? -1 : 1)]],
    ["sum", [1, 99, sum]],
  ]);

  const TOKEN = /\\s*(?:(\\d+(?:\\.\\d*)?(?:[eE][+-]?\\d+)?|\\.\\d+(?:[eE][+-]?\\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|(\\*\\*|[-+*/%^!(),]))/y;

  const tokenise = (text) => {
    const tokens = [];
    TOKEN.lastIndex = 0;
    for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
      if (text.slice(at).trim() === "") break;
      TOKEN.lastIndex = at;
      const match = TOKEN.exec(text);
      if (match === null) {
        const rest = text.slice(at).trimStart();
        throw new Issue('"' + String.fromCodePoint(rest.codePointAt(0)) + '" is not allowed here', text.length - rest.length + 1);
      }
      const [all, number, name, sign] = match;
      const position = at + all.length - (number ?? name ?? sign).length + 1;
      if (number !== undefined) tokens.push({ type: "number", text: number, position });
      else if (name === "of") tokens.push({ type: "*", position });
      else if (name !== undefined) tokens.push({ type: "name", text: name, position });
      else tokens.push({ type: sign === "**" ? "^" : sign, position });
    }
    return tokens;
  };

  const calculate = (text) => {
    const tokens = tokenise(text);
    let at = 0;
    const type = () => tokens[at]?.type;
    const fail = (message) => {
      throw new Issue(message, tokens[at]?.position ?? text.length + 1);
    };
    const expect = (wanted) => {
      if (type() !== wanted) fail(at < tokens.length ? '"' + wanted + '" is missing' : "the expression ends too early");
      at += 1;
    };
    // Before an operand, % is a remainder, and nothing is a product.
    const startsOperand = (index) => ["number", "name", "("].includes(tokens[index]?.type);

    // percent: the value was written as one percentage, which adds to and takes from the other side in proportion.
    const additive = () => {
      let left = product();
      while (type() === "+" || type() === "-") {
        const sign = tokens[at++].type;
        const right = product();
        const amount = right.percent && !left.percent ? left.value.times(right.value) : right.value;
        const percent = left.percent && right.percent;
        left = { value: sign === "+" ? left.value.plus(amount) : left.value.minus(amount), percent };
      }
      return left;
    };
    const product = () => {
      let left = signed();
      for (;;) {
        const operator = type();
        if (operator === "*" || operator === "/" || operator === "%") at += 1;
        else if (type() === "number" || !startsOperand(at)) return left;
        const right = signed();
        const [a, b] = [left.value, right.value];
        if (operator === "/" && b.isZero()) throw new Issue("a division by zero");
        left = { value: operator === "/" ? a.div(b) : operator === "%" ? mod(a, b) : a.times(b), percent: false };
      }
    };
    const signed = () => {
      if (type() === "-" || type() === "+") {
        const negative = tokens[at++].type === "-";
        const { value, percent } = signed();
        return { value: negative ? value.negated() : value, percent };
      }
      return power();
    };
    const power = () => {
      const base = postfix();
      if (type() !== "^") return base;
      at += 1;
      return { value: base.value.pow(signed().value), percent: false };
    };
    const postfix = () => {
      let { value } = operand();
      let percent = false;
      for (;;) {
        if (type() === "!") value = factorial(value);
        else if (type() === "%" && !startsOperand(at + 1)) {
          value = value.div(100);
          percent = true;
        } else return { value, percent };
        at += 1;
      }
    };
    const operand = () => {
      const token = tokens[at];
      if (type() === "number") {
        at += 1;
        return { value: new Decimal(token.text) };
      }
      if (type() === "(") {
        at += 1;
        const { value } = additive();
        expect(")");
        return { value };
      }
      if (type() !== "name") fail(at < tokens.length ? '"' + token.type + '" is not allowed here' : "the expression ends too early");
      at += 1;
      if (type() !== "(") {
        const value = constants.get(token.text.toLowerCase());
        if (value === undefined) {
          throw new Issue('"' + token.text.slice(0, 50) + '" is unknown; use numbers, pi or e', token.position);
        }
        return { value };
      }
      const known = functions.get(token.text.toLowerCase());
      if (known === undefined) {
        throw new Issue('the function "' + token.text.slice(0, 50) + '" is unknown', token.position);
      }
      at += 1;
      const values = [];
      while (type() !== ")") {
        if (values.length > 0) expect(",");
        values.push(additive().value);
      }
      at += 1;
      const [least, most, apply] = known;
      if (values.length < least || values.length > most) {
        const wanted = least === most ? least : least + " to " + most;
        throw new Issue(token.text + " takes " + wanted + " numbers", token.position);
      }
      return { value: apply(...values) };
    };

    const { value } = additive();
    if (at < tokens.length) fail("the expression should end here");
    return value;
  };

  /** A double if it has the same value, else the decimal digits as text. */
  const toResult = (value) => {
    if (value.isNaN()) throw new Issue("the result is not a real number");
    if (!value.isFinite()) throw new Issue("the result is too large");
    if (value.abs().greaterThan(Number.MAX_SAFE_INTEGER)) return value.e < 64 ? value.toFixed() : value.toString();
    const double = Number(value.toString());
    if (double === 0) return value.isZero() ? 0 : value.toString();
    return double;
  };

  return (expression) => {
    try {
      return { ok: true, value: toResult(calculate(expression)) };
    } catch (error) {
      const message = error instanceof RangeError ? "it is nested too deeply" : String(error.message).slice(0, 300);
      return { ok: false, message, position: error.position ?? null };
    }
  };
})
`;
