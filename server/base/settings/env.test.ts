import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readEnvironment } from "./env";

const REQUIRED = { DATABASE_URL: "postgres://localhost/x", STEPWELL_SECRET: "x".repeat(32) };

it("needs only a database and a secret, and takes empty variables as unset", () => {
  const names = [
    ...readFileSync(join(import.meta.dirname, "../../../.env.example"), "utf8").matchAll(/^([A-Z_]+)=/gm),
  ];
  const empty = Object.fromEntries(names.map(([, name]) => [name ?? "", ""]));
  expect(names.length).toBeGreaterThan(10);
  for (const source of [REQUIRED, { ...empty, ...REQUIRED }]) {
    expect(readEnvironment(source)).toMatchObject({
      port: 3000,
      appUrl: "http://localhost:3000",
      openai: undefined,
      inngest: undefined,
    });
  }
});

it("is fully described in .env.example and in the operating guide", () => {
  const textOf = (path: string) => readFileSync(join(import.meta.dirname, "../../..", path), "utf8");
  const sorted = (names: Iterable<string | undefined>) => [...new Set(names)].toSorted();
  const read = new Set<string>();
  const spied = new Proxy<Record<string, string>>(REQUIRED, {
    get: (source, name) => {
      if (/^[A-Z]/.test(String(name))) read.add(String(name));
      return source[String(name)];
    },
  });
  readEnvironment(spied);
  const example = [...textOf(".env.example").matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
  const rows = textOf("docs/operating.md").matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm);
  const guide = [...rows].flatMap(([, cell = ""]) => cell.match(/[A-Z_]+/g) ?? []);
  expect(sorted(example)).toEqual(sorted(read));
  expect(sorted(guide)).toEqual(sorted(read));
});

it.each([{ SMTP_URL: "smtp://mail.example.com" }, { SMTP_FROM: "a@example.com" }])(
  "%o alone is rejected",
  (half) => {
    expect(() => readEnvironment({ ...REQUIRED, ...half })).toThrow(
      /^ {2}SMTP_URL and SMTP_FROM belong together$/m,
    );
  },
);

it("metrics of several processes need a port of their own", () => {
  const token = { STEPWELL_METRICS_TOKEN: "t".repeat(32) };
  const port = { STEPWELL_METRICS_PORT: "9464" };
  const several = { STEPWELL_PROCESSES: "2" };
  const read = (settings: Record<string, string>) => readEnvironment({ ...REQUIRED, ...settings }).metrics;
  expect(read({})).toBeUndefined();
  expect(read(token)).toEqual({ token: "t".repeat(32), port: undefined });
  expect(read({ ...port, ...several })).toEqual({ token: undefined, port: 9_464 });
  expect(read({ ...token, ...port, ...several })).toEqual({ token: "t".repeat(32), port: 9_464 });
  expect(() => read({ ...token, ...several })).toThrow(
    /^ {2}STEPWELL_METRICS_TOKEN needs STEPWELL_METRICS_PORT/m,
  );
  expect(() => read({ STEPWELL_METRICS_TOKEN: "short" })).toThrow("at least 32 characters");
  expect(() => read({ STEPWELL_METRICS_PORT: "0" })).toThrow("from 1 to 65535");
});

it("names every wrong value at once", () => {
  const wrong = {
    ...REQUIRED,
    PORT: "http",
    APP_URL: "ftp://x",
    EGRESS_ALLOW: "localhost",
    STEPWELL_SECRET: "short",
  };
  for (const name of ["PORT", "APP_URL", "EGRESS_ALLOW", "STEPWELL_SECRET"]) {
    expect(() => readEnvironment(wrong)).toThrow(new RegExp(`^ {2}${name} `, "m"));
  }
});

it.each([
  ["PORT", "80.5", 'must be a whole number from 0 to 65535, such as 3000; it is "80.5"'],
  ["STEPWELL_SLOTS", "0", 'must be a whole number from 1 to 10000, such as 200; it is "0"'],
  ["STEPWELL_PROCESSES", "0", 'must be a whole number from 1 to 99, or auto; it is "0"'],
  [
    "APP_URL",
    "localhost:3960",
    'must be an http:// or https:// address such as https://stepwell.example.com; it is "localhost:3960"',
  ],
  ["APP_URL", "localhost", /such as https:\/\/stepwell\.example\.com; it is "localhost"$/],
  ["OPENAI_BASE_URL", "ftp://me:s3cret@x.test", /such as https:\/\/api\.openai\.com\/v1; it is "…@x\.test"$/],
  [
    "DATABASE_URL",
    "mysql://root:s3cret@localhost/x",
    "must be a PostgreSQL address such as postgres://user:password@host:5432/stepwell; it begins with mysql://",
  ],
  // umami-software/umami#1480
  [
    "DATABASE_URL",
    "postgres://u:s3cret#1@localhost/x",
    /^is not a valid address: .* such as %23 for # and %2F for \/$/,
  ],
  ["TRUST_PROXY", "yes", 'must be 0 or 1; it is "yes"'],
  ["LOG_LEVEL", "loud", 'must be debug, info, warn or error; it is "loud"'],
  ["OPENAI_API", "completions", 'must be chat, responses or anthropic; it is "completions"'],
  [
    "STEPWELL_SECRET",
    "s3cret",
    "must have at least 32 characters, such as those of `openssl rand -hex 32`; it has 6",
  ],
  [
    "SMTP_URL",
    "mail.test",
    "must be an address such as smtp://user:password@mail.example.com:587; it begins with another text",
  ],
  ["SMTP_URL", "smtp://user:s3cret%@mail.test", /^is not a valid address: .* such as %25 for %$/],
])("%s=%s is answered with a range or an example, and without a password", (name, value, expected) => {
  const wrong = { ...REQUIRED, [name]: value };
  const message = () => {
    try {
      readEnvironment(wrong);
    } catch (error) {
      return String(error);
    }
    return "";
  };
  const line = message()
    .split("\n")
    .find((each) => each.startsWith(`  ${name} `));
  const text = line?.slice(name.length + 3) ?? "";
  if (typeof expected === "string") expect(text).toBe(expected);
  else expect(text).toMatch(expected);
  expect(message()).not.toContain("s3cret");
});

it("names variables that nothing reads, with the name that was probably meant", () => {
  const source = {
    ...REQUIRED,
    STEPWELL_SLOT: "4",
    STEPWELL_FOO: "1",
    STEPWELL_ENV_FILE: "",
    PROT: "1",
    https_proxy: "http://a.test",
  };
  expect(readEnvironment(source).unknownSettings).toEqual([
    "STEPWELL_FOO is not a setting and has no effect. docs/operating.md lists the settings.",
    "STEPWELL_SLOT is not a setting and has no effect. Did you mean STEPWELL_SLOTS?",
    "https_proxy has no effect: outbound calls connect directly.",
  ]);
});

it("removes a trailing slash of APP_URL and reads lists", () => {
  const env = readEnvironment({ ...REQUIRED, APP_URL: "https://a.test/", EGRESS_ALLOW: "A:1, [::1]:2" });
  expect(env.appUrl).toBe("https://a.test");
  expect(env.egressAllow).toEqual(["a:1", "[::1]:2"]);
});

const KEY = "0123456789abcdef";

it.each(["not hexadecimal", "abc", "signkey-prod-", "0x12"])(
  "names a signing key that is not hexadecimal: %s",
  (key) => {
    const wrong = { ...REQUIRED, INNGEST_EVENT_KEY: "key", INNGEST_SIGNING_KEY: key };
    expect(() => readEnvironment(wrong)).toThrow(/^ {2}INNGEST_SIGNING_KEY is not hexadecimal/m);
  },
);

it.each([KEY, KEY.toUpperCase(), `signkey-prod-${KEY}`])("takes the signing key %s", (key) => {
  const env = readEnvironment({ ...REQUIRED, INNGEST_EVENT_KEY: "key", INNGEST_SIGNING_KEY: key });
  expect(env.inngest).toMatchObject({
    dev: undefined,
    signingKey: key,
    serveOrigin: "http://localhost:3000",
  });
});

it("takes 0 for no dev server, and an address for one", () => {
  expect(readEnvironment({ ...REQUIRED, INNGEST_DEV: "0" }).inngest).toBeUndefined();
  const env = readEnvironment({
    ...REQUIRED,
    INNGEST_DEV: "http://127.0.0.1:8288",
    INNGEST_SERVE_ORIGIN: "http://workers.internal:3001/",
  });
  expect(env.inngest).toMatchObject({
    dev: "http://127.0.0.1:8288",
    serveOrigin: "http://workers.internal:3001",
  });
  expect(() => readEnvironment({ ...REQUIRED, INNGEST_DEV: "localhost:8288" })).toThrow(/^ {2}INNGEST_DEV /m);
});
