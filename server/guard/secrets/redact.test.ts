import { describe, expect, test } from "vitest";
import { createRedactor } from "@/server/guard/secrets/redact";

const AWKWARD = 'Tr0ub4dor&3/+="é~?> \\';
const KEY = "sk-proj-abcdefghijklmnop";
const { redact } = createRedactor([
  { value: AWKWARD, mark: "[secret awkward]" },
  { value: KEY, mark: "[secret key]" },
]);

const html = (text: string) =>
  text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replaceAll("/", "&#x2F;");
const numbered = (text: string, write: (code: number) => string) =>
  Array.from(text, (sign) => write(sign.charCodeAt(0))).join("");
const inLines = (base64: string) => base64.replace(/.{20}(?=.)/g, "$&\r\n");
const base64Of = (text: string) => Buffer.from(`user:${text}`).toString("base64");
const hexOf = (text: string) => Buffer.from(text).toString("hex");
const octal = (bytes: Buffer) =>
  Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const unicode = (text: string) =>
  text.replace(/[^\w]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("a secret that comes back", () => {
  test.each<[string, (text: string) => string]>([
    ["as it is", (text) => text],
    ["in base64", (text) => Buffer.from(text).toString("base64")],
    ["in base64 without padding", (text) => Buffer.from(text).toString("base64").replaceAll("=", "")],
    ["in base64url", (text) => Buffer.from(text).toString("base64url")],
    ["in base64 behind one byte", (text) => Buffer.from(`x${text}`).toString("base64")],
    ["in base64 behind two bytes", (text) => Buffer.from(`xy${text}z`).toString("base64")],
    ["in base64 as credentials", (text) => Buffer.from(`user:${text}`).toString("base64")],
    ["in base64 in an address", (text) => encodeURIComponent(Buffer.from(`u:${text}`).toString("base64"))],
    ["in base64 as PHP writes JSON", (text) => Buffer.from(text).toString("base64").replaceAll("/", "\\/")],
    ["in base64 in lines", (text) => inLines(Buffer.from(`user:${text}`).toString("base64"))],
    ["in base64 in lines within JSON", (text) => JSON.stringify(inLines(base64Of(text)))],
    ["in base64 in indented lines", (text) => base64Of(text).replace(/.{8}(?=.)/g, "$&\n            ")],
    [
      "in base64 in indented lines within JSON",
      (text) => JSON.stringify(base64Of(text).replace(/.{8}(?=.)/g, "$&\n\t")),
    ],
    [
      "in base64 in lines within JSON within JSON",
      (text) => JSON.stringify(JSON.stringify(inLines(base64Of(text)))),
    ],
    ["in base64 in lines in an address", (text) => encodeURIComponent(inLines(base64Of(text)))],
    ["in base64 of a JSON body", (text) => Buffer.from(JSON.stringify(text)).toString("base64")],
    [
      "in base64 of a form",
      (text) => Buffer.from(new URLSearchParams({ a: text }).toString()).toString("base64"),
    ],
    ["in small letters, as a host is written", (text) => text.toLowerCase()],
    ["in capital letters", (text) => text.toUpperCase().replace("É", "é")],
    ["in small letters within JSON", (text) => JSON.stringify({ key: text.toLowerCase() })],
    ["in hexadecimal", (text) => Buffer.from(text).toString("hex")],
    ["in hexadecimal capitals", (text) => Buffer.from(text).toString("hex").toUpperCase()],
    [
      "in hexadecimal with colons",
      (text) =>
        Buffer.from(text)
          .toString("hex")
          .replace(/..(?=.)/g, "$&:"),
    ],
    ["in hexadecimal in lines", (text) => hexOf(text).replace(/.{32}(?=.)/g, "$&\n")],
    [
      "in hexadecimal in lines within JSON",
      (text) => JSON.stringify(hexOf(text).replace(/.{8}(?=.)/g, "$&\r\n")),
    ],
    [
      "in hexadecimal as openssl prints it",
      (text) =>
        hexOf(text)
          .replace(/..(?=.)/g, "$&:")
          .replace(/(?:..:){5}(?=.)/g, "$&\n                "),
    ],
    [
      "as an array of bytes in C",
      (text) =>
        hexOf(text)
          .replace(/..(?=.)/g, "$&, 0x")
          .replace(/.{24}/g, "$&\n\t"),
    ],
    [
      "in hexadecimal in lines in an address",
      (text) => encodeURIComponent(hexOf(text).replace(/.{8}/g, "$&\r\n")),
    ],
    [
      "in hexadecimal in lines that a backslash continues",
      (text) => hexOf(text).replace(/.{8}(?=.)/g, "$&\\\n"),
    ],
    [
      "in hexadecimal with 0X",
      (text) =>
        hexOf(text)
          .toUpperCase()
          .replace(/..(?=.)/g, "$&, 0X"),
    ],
    ...[";", ".", "_", "|"].map((sign): [string, (text: string) => string] => [
      `in hexadecimal with ${sign}`,
      (text) => hexOf(text).replace(/..(?=.)/g, `$&${sign}`),
    ]),
    ["with every byte in hexadecimal", (text) => hexOf(text).replace(/../g, "\\x$&")],
    ["with every byte in octal", (text) => octal(Buffer.from(text))],
    ["with octal for all but ASCII", (text) => text.replace(/[^ -~]/g, (sign) => octal(Buffer.from(sign)))],
    ["with \\u{…}", (text) => numbered(text, (code) => `\\u{${code.toString(16)}}`)],
    [
      "with every character escaped as in JSON",
      (text) => text.replace(/[\s\S]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`),
    ],
    ["URL-encoded", encodeURIComponent],
    [
      "URL-encoded in small letters",
      (text) => encodeURIComponent(text).replace(/%../g, (e) => e.toLowerCase()),
    ],
    ["URL-encoded twice", (text) => encodeURIComponent(encodeURIComponent(text))],
    ["URL-encoded byte by byte", (text) => Buffer.from(text).toString("hex").replace(/../g, "%$&")],
    ["as a form's value", (text) => new URLSearchParams({ a: text }).toString().slice(2)],
    ["within JSON", (text) => JSON.stringify({ key: text })],
    ["within JSON within JSON", (text) => JSON.stringify(JSON.stringify({ key: text }))],
    [
      "within JSON within JSON within JSON",
      (text) => [0, 1, 2].reduce((inner) => JSON.stringify(inner), text),
    ],
    ["with \\u escapes", unicode],
    ["within HTML", html],
    ["with every character as HTML's number", (text) => numbered(text, (code) => `&#${code};`)],
    [
      "with every character as HTML's number in hexadecimal",
      (text) => numbered(text, (code) => `&#x${code.toString(16)};`),
    ],
  ])("%s is redacted", (_name, encode) => {
    for (const [value, mark] of [
      [AWKWARD, "[secret awkward]"],
      [KEY, "[secret key]"],
    ] as const) {
      const cleaned = redact(`Wrong key <${encode(value)}>.`);
      expect(cleaned).toContain(mark);
      // What may be left beside it are its neighbors in the encoded text, and the quotes of JSON.
      expect(cleaned.length).toBeLessThan(`Wrong key <${mark}>.`.length + 24);
      expect(cleaned).toMatch(/^Wrong key <.*>\.$/);
    }
  });

  test.each<[string, (text: string) => string]>([
    ["as it is", (text) => text],
    ["with other ends of lines", (text) => text.replaceAll("\n", "\r\n")],
    ["within JSON", JSON.stringify],
    ["in base64", (text) => Buffer.from(text).toString("base64")],
    ["in hexadecimal", (text) => Buffer.from(text).toString("hex")],
    ["URL-encoded", encodeURIComponent],
  ])("%s is redacted as one, though it is as long as a key file", (_name, encode) => {
    const line = (index: number) =>
      `${index}MIIJQgIBADANBgkqhkiG9w0BAQEFAASCCSwwggkoAgEAAoICAQ/+`.padEnd(64, "k");
    const file = `-----BEGIN PRIVATE KEY-----\n${Array.from({ length: 50 }, (_, i) => line(i)).join("\n")}\n-----END`;
    const { redact: redactFile } = createRedactor([{ value: file, mark: "[secret file]" }]);
    expect(redactFile(`<${encode(file)}>`).replace(/"/g, "")).toMatch(/^<.{0,3}\[secret file\].{0,3}>$/);
  });
});

test("keeps text that only looks like a secret", () => {
  const text = `${Buffer.from("sk-proj-other").toString("base64")} ${Buffer.from("another").toString("hex")}`;
  expect(redact(text)).toBe(text);
});

test("a secret behind a backslash, percent sign or other digits is redacted", () => {
  const values = ['n"ew-secret\\!', "0x41-secret", "ab%cd-secret", "25abcdef01"];
  const { redact } = createRedactor(values.map((value) => ({ value, mark: "[s]" })));
  for (const value of values)
    for (const before of ["\\", "\\\\", "%", "%2", "0", "&#", "\\u00", "z"])
      for (const text of [before + value, JSON.stringify(before + value)])
        expect(redact(text)).toContain("[s]");
});

test("the pattern of a mark has no meaning in the replacement", () => {
  expect(createRedactor([{ value: "hunter22", mark: "[$& $1]" }]).redact("a hunter22 b")).toBe("a [$& $1] b");
});

test("stays fast on text made to slow it down", () => {
  const nasty = createRedactor([{ value: '"/"\\"/"\\ "//""', mark: "[secret nasty]" }]);
  const started = performance.now();
  for (const unit of ["\\", '"', "&#0", "%25", "/", "\\\\u00", "22 ", "22\n"])
    nasty.redact(unit.repeat(1_000_000 / unit.length));
  // Each n may be the first sign of this secret in base64, and each break may follow it.
  const github = createRedactor([{ value: "ghp_0123456789abcdef", mark: "[secret github]" }]);
  for (const unit of ["\\n", "Z2hw ", "Z2hw%0A", "67;", "67%0A"])
    github.redact(unit.repeat(1_000_000 / unit.length));
  // Patterns that allow several spellings of each break or backslash took hours for these.
  const near = (value: string, text: string) =>
    createRedactor([{ value, mark: "[secret near]" }]).redact(`${text}zz`);
  const groups = Buffer.from(KEY.repeat(3)).toString("base64").slice(0, 80);
  near(KEY.repeat(3), groups.replace(/.{4}/g, "$&     "));
  near(`abcd${"\n".repeat(12)}efgh`, `61626364${"%0A".repeat(40)}`);
  near(`a${"\\".repeat(16)}bcdef`, `a${"\\".repeat(40)}`);
  expect(performance.now() - started).toBeLessThan(15_000);
});

test("secrets of many characters, signs and symbols are redacted as one", () => {
  const symbols = Array.from({ length: 1_000 }, (_, index) => `é${String.fromCodePoint(0x1f300 + index)}`);
  for (const secret of ["k".repeat(3_000), "!/".repeat(1_500), symbols.join("")])
    expect(createRedactor([{ value: secret, mark: "***" }]).redact(`<${secret}>`)).toBe("<***>");
});

test("a secret anywhere in a long text is redacted, also in slices", async () => {
  const { redact, redactLong } = createRedactor([{ value: KEY, mark: "[k]" }]);
  for (const at of [0, 1, 10, KEY.length - 1, KEY.length])
    for (const form of [KEY, base64Of(KEY), hexOf(KEY), unicode(KEY)]) {
      const before = " ".repeat(2 ** 15 - at);
      const text = `${before}${form} ${" ".repeat(2 ** 16)}${form}`;
      const clean = redact(text);
      expect(clean.match(/\[k\]/g)).toHaveLength(2);
      expect(clean.indexOf("[k]")).toBeLessThan(before.length + 8);
      expect(await redactLong(text)).toBe(clean);
    }
});
