/**
 * Ajv keywords that compare numbers which a double cannot hold, for the script of a thread. In schemas such a
 * number is a string that begins with the mark; in values it is a double, and its digits are found by its JSON
 * pointer.
 */
export const EXACT_KEYWORDS = `
  let mark = "";
  let digitsAt = new Map();

  function unmarkValue(value, pointer) {
    if (typeof value === "string" && value.startsWith(mark)) {
      const digits = value.slice(mark.length);
      digitsAt.set(pointer, digits);
      const double = Number(digits);
      const { magnitude, significant } = readDecimal(digits);
      const isInteger = magnitude >= significant.length;
      return isInteger === Number.isInteger(double) ? double : 0.5;
    }
    if (Array.isArray(value)) return value.map((item, index) => unmarkValue(item, pointer + "/" + index));
    if (value === null || typeof value !== "object") return value;
    const at = (key) => pointer + "/" + key.replaceAll("~", "~0").replaceAll("/", "~1");
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unmarkValue(member, at(key))]));
  }

  function readMarked(text, itsMark) {
    mark = itsMark;
    digitsAt = new Map();
    return unmarkValue(JSON.parse(text), "");
  }

  /** The number is sign × 0.significant × 10^magnitude. */
  function readDecimal(text) {
    const [, minus, whole, fraction = "", exponent = "0"] = /^(-?)(\\d+)(?:\\.(\\d+))?(?:e([+-]?\\d+))?$/i.exec(text);
    const all = whole + fraction;
    let first = 0;
    while (all[first] === "0") first += 1;
    let last = all.length;
    while (last > first && all[last - 1] === "0") last -= 1;
    if (first === last) return { sign: 0, significant: "", magnitude: 0 };
    const magnitude = whole.length - first + Number(exponent);
    return { sign: minus ? -1 : 1, significant: all.slice(first, last), magnitude };
  }

  const numberAt = (data, pointer) => readDecimal(digitsAt.get(pointer) ?? String(data));
  const isMarked = (limit) => typeof limit === "string" && limit.startsWith(mark);
  const wordOf = (limit) => (isMarked(limit) ? limit.slice(mark.length) : String(limit));

  function compare(one, other) {
    if (one.sign !== other.sign) return one.sign - other.sign;
    if (one.magnitude !== other.magnitude) return one.sign * (one.magnitude - other.magnitude);
    if (one.significant === other.significant) return 0;
    return one.significant > other.significant ? one.sign : -one.sign;
  }

  function isMultiple(number, divisor) {
    if (number.sign === 0) return true;
    const shift = number.magnitude - number.significant.length - divisor.magnitude + divisor.significant.length;
    // The significant digits do not end with 0.
    if (shift < 0) return false;
    // A divisor has fewer factors 2 and 5 than bits.
    const power = BigInt(Math.min(shift, divisor.significant.length * 4));
    return (BigInt(number.significant) * 10n ** power) % BigInt(divisor.significant) === 0n;
  }

  const identify = ({ sign, significant, magnitude }) => "#" + sign + significant + "e" + magnitude;

  function identityOf(value, pointer) {
    if (typeof value === "number") return identify(pointer === null ? readDecimal(String(value)) : numberAt(value, pointer));
    if (pointer === null && isMarked(value)) return identify(readDecimal(wordOf(value)));
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    const at = (key) => pointer === null ? null : pointer + "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1");
    if (Array.isArray(value)) return "[" + value.map((item, index) => identityOf(item, at(index))).join() + "]";
    const keys = Object.keys(value).sort();
    return "{" + keys.map((key) => JSON.stringify(key) + ":" + identityOf(value[key], at(key))).join() + "}";
  }

  const showValue = (value) =>
    JSON.stringify(value).replace(new RegExp('"' + mark + '([^"]*)"', "g"), "$1").slice(0, 300);

  const numeric = (test, words) => ({
    type: "number",
    issue: (limit, data, pointer) =>
      test(numberAt(data, pointer), readDecimal(wordOf(limit))) ? null : words + " " + wordOf(limit),
  });
  const KEYWORDS = {
    minimum: numeric((a, b) => compare(a, b) >= 0, "must be >="),
    maximum: numeric((a, b) => compare(a, b) <= 0, "must be <="),
    exclusiveMinimum: numeric((a, b) => compare(a, b) > 0, "must be >"),
    exclusiveMaximum: numeric((a, b) => compare(a, b) < 0, "must be <"),
    multipleOf: numeric(isMultiple, "must be multiple of"),
    const: {
      issue: (value, data, pointer) =>
        identityOf(value, null) === identityOf(data, pointer) ? null : "must be " + showValue(value),
    },
    enum: {
      issue: (values, data, pointer) => {
        const identity = identityOf(data, pointer);
        return values.some((value) => identityOf(value, null) === identity)
          ? null
          : "must be one of " + showValue(values);
      },
    },
    uniqueItems: {
      type: "array",
      issue: (isAsked, items, pointer) => {
        const identities = items.map((item, index) => identityOf(item, pointer + "/" + index));
        return !isAsked || new Set(identities).size === items.length ? null : "must NOT have duplicate items";
      },
    },
  };

  /** Only compared keywords keep marked numbers; others take doubles. */
  function unmarkSchema(value, isCompared = false) {
    if (isMarked(value)) return isCompared ? value : Number(wordOf(value));
    if (Array.isArray(value)) return value.map((item) => unmarkSchema(item, isCompared));
    if (value === null || typeof value !== "object") return value;
    const members = Object.entries(value);
    return Object.fromEntries(
      members.map(([key, member]) => [key, unmarkSchema(member, isCompared || Object.hasOwn(KEYWORDS, key))]),
    );
  }

  function addExactKeywords(ajv) {
    for (const [keyword, { type, issue }] of Object.entries(KEYWORDS)) {
      const validate = (schema, data, _parent, { instancePath }) => {
        const message = issue(schema, data, instancePath);
        validate.errors = message === null ? null : [{ keyword: "exact", params: {}, message }];
        return message === null;
      };
      ajv.removeKeyword(keyword);
      ajv.addKeyword({ keyword, validate, errors: true, ...(type && { type }) });
    }
    return ajv;
  }
`;
