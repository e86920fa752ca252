import { z } from "zod";
import { ConfigurationFileError, readModelProviders, readPriceList } from "@/server/configuration-files";
import { DEFAULT_PRICES, type PriceList } from "@/server/credits/prices";
import { isLoopback } from "@/server/egress/addresses";
import type { SmtpSettings } from "@/server/mail/smtp";
import type { NamedProvider } from "@/server/models/registry";
import { PAUSE_POINTS, type PausePoint } from "@/server/runs/engine/pause-points";

const optionalText = z
  .string()
  .optional()
  .transform((value) => (value === "" ? undefined : value));
const port = optionalText
  .transform((value) => (value === undefined ? 3000 : Number(value)))
  .pipe(z.int({ error: "is not a whole number" }).min(0).max(65535));
const httpUrl = z.url({ protocol: /^https?$/ });

const hostAndPort = /^(\[[0-9a-fA-F:]+\]|[^\s:[\]]+):(\d{1,5})$/;

/** `host:port` pairs, separated by commas or spaces. */
const hostList = optionalText.transform((value, context) => {
  const entries = (value ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  for (const entry of entries) {
    if (!hostAndPort.test(entry)) {
      context.addIssue({ code: "custom", message: `"${entry}" is not host:port` });
    }
  }
  return entries.map((entry) => entry.toLowerCase());
});

/** `point=probability` pairs, separated by commas. */
const pausePoints = optionalText.transform((value, context) => {
  const probabilities = new Map<PausePoint, number>();
  for (const entry of (value ?? "").split(",").filter((text) => text !== "")) {
    const [name, probability] = entry.split("=");
    const point = PAUSE_POINTS.find((known) => known === name);
    const share = Number(probability);
    if (point !== undefined && share >= 0 && share <= 1) probabilities.set(point, share);
    else
      context.addIssue({
        code: "custom",
        message: `"${entry}" is not a point of the engine and a probability`,
      });
  }
  return probabilities;
});

/** Inngest's keys: hexadecimal, in its cloud with a prefix. */
const signingKey = optionalText.pipe(
  z
    .string()
    .regex(
      /^(signkey-\w+-)?([0-9a-f]{2})+$/i,
      "is not hexadecimal with an even number of digits: make one with `openssl rand -hex 32`",
    )
    .optional(),
);
const inngestDev = optionalText.pipe(
  z
    .string()
    .regex(/^(0|1|true|false|https?:\/\/\S+)$/, "is neither 0, 1 nor the http:// address of a dev server")
    .optional(),
);

const schema = z.object({
  PORT: port,
  HOST: optionalText.pipe(z.string().default("0.0.0.0")),
  APP_URL: optionalText.pipe(httpUrl.optional()),
  DATABASE_URL: z
    .string({ error: "is required; `npm start` sets it to the embedded PostgreSQL" })
    .regex(/^postgres(ql)?:\/\//, "is not a postgres:// address"),
  STEPWELL_DATA_DIR: optionalText.pipe(z.string().default(".data")),
  STEPWELL_DEMO: optionalText.pipe(z.enum(["on", "off"]).default("off")),
  STEPWELL_SECRET: z
    .string({ error: "is required; `npm start` generates one in the data folder when DATABASE_URL is unset" })
    .min(32, "must have at least 32 characters"),
  STEPWELL_SECRET_PREVIOUS: optionalText.pipe(
    z.string().min(32, "must have at least 32 characters").optional(),
  ),
  OPENAI_API_KEY: optionalText,
  OPENAI_BASE_URL: optionalText.pipe(httpUrl.optional()),
  DEFAULT_MODEL: optionalText.pipe(z.string().default("gpt-5-mini")),
  MODEL_PROVIDERS: optionalText,
  PRICE_LIST: optionalText,
  EGRESS_ALLOW: hostList,
  SMTP_URL: optionalText.pipe(z.url({ protocol: /^smtps?$/, error: "is not an smtp:// address" }).optional()),
  SMTP_FROM: optionalText.pipe(
    z
      .string()
      .regex(/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/, "is not an address such as Stepwell <no-reply@example.com>")
      .optional(),
  ),
  SMTP_REQUIRE_TLS: optionalText.pipe(z.enum(["0", "1"]).default("1")),
  SMTP_RECIPIENTS_PER_HOUR: optionalText
    .transform((value) => (value === undefined ? 500 : Number(value)))
    .pipe(z.int({ error: "is not a whole number" }).min(1).max(1_000_000)),
  TRUST_PROXY: optionalText.pipe(z.enum(["0", "1"]).default("0")),
  LOG_LEVEL: optionalText.pipe(z.enum(["debug", "info", "warn", "error"]).default("info")),
  STEPWELL_SLOTS: optionalText
    .transform((value) => (value === undefined ? 200 : Number(value)))
    .pipe(z.int({ error: "is not a whole number" }).min(1).max(10_000)),
  STEPWELL_PROCESSES: optionalText.pipe(
    z
      .string()
      .regex(/^(auto|[1-9]\d?)$/, "is neither a number from 1 to 99 nor auto")
      .default("1"),
  ),
  STEPWELL_ROLE: optionalText.pipe(z.enum(["all", "web", "worker"]).default("all")),
  STEPWELL_PAUSE_POINTS: pausePoints,
  INNGEST_DEV: inngestDev,
  INNGEST_BASE_URL: optionalText.pipe(httpUrl.optional()),
  INNGEST_EVENT_KEY: optionalText,
  INNGEST_SIGNING_KEY: signingKey,
  INNGEST_SERVE_ORIGIN: optionalText.pipe(httpUrl.optional()),
});

export type Environment = {
  port: number;
  host: string;
  /** The address that people and senders use, without a trailing slash. Decides origin and Secure cookies. */
  appUrl: string;
  /** Whether APP_URL or PORT is set, in contrast to the default address. */
  appUrlGiven: boolean;
  databaseUrl: string;
  dataDir: string;
  /** Whether the first start creates the demo organization. */
  demo: boolean;
  secret: string;
  /** The secret before a rotation. */
  previousSecret: string | undefined;
  openai: { apiKey: string | undefined; baseUrl: string | undefined } | undefined;
  /** Additional named model providers. */
  providers: NamedProvider[];
  prices: PriceList;
  /** The model of functions that name none. */
  defaultModel: string;
  /** Private `host:port` addresses that functions may call. */
  egressAllow: string[];
  /** The server that sends e-mails of functions. */
  smtp: SmtpSettings | undefined;
  /** How many recipients one organization may write to in an hour. */
  recipientsPerHour: number;
  /** Whether X-Forwarded-For tells the client's address. */
  trustProxy: boolean;
  logLevel: "debug" | "info" | "warn" | "error";
  /** How many runs one process executes at once. */
  slots: number;
  /** Processes behind one port; `auto`: one per core. */
  processes: number | "auto";
  /** `web` serves requests, `worker` executes runs, `all` does both. */
  role: "all" | "web" | "worker";
  /** For durability tests: points at which the process kills itself, each with its probability. */
  pausePoints: ReadonlyMap<PausePoint, number>;
  /** Set: an Inngest server drives runs; unset: the embedded engine. */
  inngest:
    | {
        /** `1`, `true` or an address: a dev server, which accepts unsigned calls. */
        dev: string | undefined;
        baseUrl: string | undefined;
        eventKey: string | undefined;
        signingKey: string | undefined;
        /** Where the server reaches processes that execute runs. */
        serveOrigin: string;
      }
    | undefined;
};

/** An invalid configuration. The message names every wrong variable. */
export class EnvironmentError extends Error {
  override name = "EnvironmentError";
}

/**
 * Reads and checks the configuration, the only reader of process.env. Throws EnvironmentError. .env.example describes
 * every variable.
 */
export function readEnvironment(source: Record<string, string | undefined> = process.env): Environment {
  const parsed = schema.safeParse(source);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
    throw new EnvironmentError(`The configuration is invalid:\n${lines.join("\n")}\nSee .env.example.`);
  }
  const value = parsed.data;
  const appUrl = (value.APP_URL ?? `http://localhost:${value.PORT}`).replace(/\/+$/, "");
  const wantsDev = value.INNGEST_DEV !== undefined && !["0", "false"].includes(value.INNGEST_DEV);
  const inngest =
    wantsDev || value.INNGEST_BASE_URL || value.INNGEST_EVENT_KEY || value.INNGEST_SIGNING_KEY
      ? {
          dev: wantsDev ? value.INNGEST_DEV : undefined,
          baseUrl: value.INNGEST_BASE_URL,
          eventKey: value.INNGEST_EVENT_KEY,
          signingKey: value.INNGEST_SIGNING_KEY,
          serveOrigin: new URL(value.INNGEST_SERVE_ORIGIN ?? appUrl).origin,
        }
      : undefined;
  return {
    port: value.PORT,
    host: value.HOST,
    appUrl,
    appUrlGiven: Boolean(value.APP_URL ?? source.PORT),
    databaseUrl: value.DATABASE_URL,
    dataDir: value.STEPWELL_DATA_DIR,
    demo: value.STEPWELL_DEMO === "on",
    secret: value.STEPWELL_SECRET,
    previousSecret: value.STEPWELL_SECRET_PREVIOUS,
    openai:
      value.OPENAI_API_KEY || value.OPENAI_BASE_URL
        ? { apiKey: value.OPENAI_API_KEY, baseUrl: value.OPENAI_BASE_URL }
        : undefined,
    ...readFiles(value, source),
    defaultModel: value.DEFAULT_MODEL,
    egressAllow: value.EGRESS_ALLOW,
    smtp: readSmtp(value.SMTP_URL, value.SMTP_FROM, value.SMTP_REQUIRE_TLS === "1"),
    recipientsPerHour: value.SMTP_RECIPIENTS_PER_HOUR,
    trustProxy: value.TRUST_PROXY === "1",
    logLevel: value.LOG_LEVEL,
    slots: value.STEPWELL_SLOTS,
    processes: value.STEPWELL_PROCESSES === "auto" ? "auto" : Number(value.STEPWELL_PROCESSES),
    role: value.STEPWELL_ROLE,
    pausePoints: value.STEPWELL_PAUSE_POINTS,
    inngest,
  };
}

function readSmtp(
  address: string | undefined,
  from: string | undefined,
  requireTls: boolean,
): SmtpSettings | undefined {
  if (address === undefined && from === undefined) return undefined;
  if (address === undefined || from === undefined) {
    throw new EnvironmentError(
      "The configuration is wrong:\n  SMTP_URL and SMTP_FROM belong together\nSee .env.example.",
    );
  }
  const url = new URL(address);
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // Without a password, and within this machine, nothing is to be protected.
    requireTls: requireTls && url.password !== "" && !isLoopback(host),
    user: url.username === "" ? undefined : decodeURIComponent(url.username),
    password: url.password === "" ? undefined : decodeURIComponent(url.password),
    from,
  };
}

function readFiles(
  paths: { PRICE_LIST: string | undefined; MODEL_PROVIDERS: string | undefined },
  source: Record<string, string | undefined>,
): Pick<Environment, "prices" | "providers"> {
  const faults: string[] = [];
  const read = <T>(name: keyof typeof paths, preset: T, reader: (path: string) => T): T => {
    const path = paths[name];
    if (path === undefined) return preset;
    try {
      return reader(path);
    } catch (error) {
      if (!(error instanceof ConfigurationFileError)) throw error;
      faults.push(`  ${name} ${error.message}`);
      return preset;
    }
  };
  const prices = read("PRICE_LIST", DEFAULT_PRICES, readPriceList);
  const providers = read("MODEL_PROVIDERS", [], (path) => readModelProviders(path, source));
  if (faults.length === 0) return { prices, providers };
  throw new EnvironmentError(
    `The configuration is invalid:\n${faults.join("\n")}\nSee docs/configuration-files.md.`,
  );
}
