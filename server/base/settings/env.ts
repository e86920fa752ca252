import { availableParallelism } from "node:os";
import { z } from "zod";
import { StartError } from "@/server/base/errors";
import { LOG_LEVELS } from "@/server/base/log";
import { isLoopback } from "@/server/base/loopback";
import { MODEL_APIS } from "@/server/base/models/model-api";
import type { NamedProvider } from "@/server/base/models/model-providers";
import { DEFAULT_PRICES } from "@/server/base/models/price-list";
import { readModelProviders, readPriceList } from "@/server/base/settings/configuration-files";
import { IS_PACKAGE } from "@/server/base/settings/program";
import {
  beginningOf,
  flag,
  hasDecodableLogin,
  hostList,
  httpUrl,
  integer,
  keyValues,
  oneOf,
  pausePoints,
  secret,
  text,
  wholeNumber,
} from "@/server/base/settings/setting-types";
import { describeUnknownSettings } from "@/server/base/settings/unknown-settings";

export type SmtpSettings = {
  host: string;
  port: number;
  /** TLS from the start (smtps); otherwise STARTTLS if the server offers it. */
  secure: boolean;
  /** Sends nothing over a connection that cannot be encrypted. */
  requireTls: boolean;
  user: string | undefined;
  password: string | undefined;
  /** Such as `Stepwell <no-reply@example.com>`. */
  from: string;
};

// An empty variable counts as unset.
const schema = z.object({
  PORT: integer({ min: 0, max: 65535, preset: 3000 }),
  HOST: z.string().default("0.0.0.0"),
  APP_URL: httpUrl("https://stepwell.example.com").optional(),
  DATABASE_URL: z
    .string({
      error: IS_PACKAGE
        ? "is required: the package has no PostgreSQL"
        : "is required; `npm start` sets it to the embedded PostgreSQL",
    })
    .regex(/^postgres(ql)?:\/\//, {
      error: ({ input }) =>
        `must be a PostgreSQL address such as postgres://user:password@host:5432/stepwell; it begins with ${beginningOf(String(input))}`,
      abort: true,
    })
    // umami-software/umami#1480
    .refine((address) => URL.canParse(address), {
      error:
        "is not a valid address: a user name or password with special characters must be encoded, such as %23 for # and %2F for /",
    }),
  STEPWELL_DATA_DIR: z.string().default(".data"),
  STEPWELL_DEMO: oneOf(["on", "off"]).default("off"),
  STEPWELL_SECRET: z
    .string({
      error: IS_PACKAGE
        ? "is required, for instance from `openssl rand -hex 32`; keep a copy"
        : "is required; `npm start` generates one in the data folder when DATABASE_URL is unset",
    })
    .pipe(secret),
  STEPWELL_SECRET_PREVIOUS: secret.optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: httpUrl("https://api.openai.com/v1").optional(),
  OPENAI_API: oneOf(MODEL_APIS).optional(),
  DEFAULT_MODEL: z.string().default("gpt-5-mini"),
  MODEL_PROVIDERS: z.string().optional(),
  PRICE_LIST: z.string().optional(),
  EGRESS_ALLOW: hostList,
  SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      error: ({ input }) =>
        `must be an address such as smtp://user:password@mail.example.com:587; it begins with ${beginningOf(String(input))}`,
      abort: true,
    })
    .refine(hasDecodableLogin, {
      error:
        "is not a valid address: a user name or password with special characters must be encoded, such as %25 for %",
    })
    .optional(),
  SMTP_FROM: text(
    /^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/,
    "an address such as Stepwell <no-reply@example.com>",
  ).optional(),
  SMTP_REQUIRE_TLS: flag("1"),
  SMTP_RECIPIENTS_PER_HOUR: integer({ min: 1, max: 1_000_000, preset: 500 }),
  TRUST_PROXY: flag("0"),
  LOG_LEVEL: oneOf(LOG_LEVELS).default("info"),
  STEPWELL_SLOTS: integer({ min: 1, max: 10_000, preset: 200 }),
  STEPWELL_PROCESSES: text(/^(auto|[1-9]\d?)$/, "a whole number from 1 to 99, or auto").default("1"),
  STEPWELL_ROLE: oneOf(["all", "web", "worker"]).default("all"),
  STEPWELL_DRAIN_SECONDS: integer({ min: 0, max: 300, preset: 0 }),
  STEPWELL_METRICS_TOKEN: secret.optional(),
  STEPWELL_METRICS_PORT: wholeNumber({ min: 1, max: 65_535, example: 9_464 }).optional(),
  STEPWELL_PAUSE_POINTS: pausePoints,
  INNGEST_DEV: text(
    /^(0|1|true|false|https?:\/\/\S+)$/,
    "0, 1 or the address of a dev server such as http://localhost:8288",
  ).optional(),
  INNGEST_BASE_URL: httpUrl("https://inngest.example.com").optional(),
  INNGEST_EVENT_KEY: z.string().optional(),
  /** Hexadecimal, in Inngest's cloud with a prefix. */
  INNGEST_SIGNING_KEY: z
    .string()
    .regex(
      /^(signkey-\w+-)?([0-9a-f]{2})+$/i,
      "is not hexadecimal with an even number of digits: make one with `openssl rand -hex 32`",
    )
    .optional(),
  INNGEST_SERVE_ORIGIN: httpUrl("http://workers.internal:3001").optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl("http://collector.internal:4318").optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl("http://collector.internal:4318/v1/traces").optional(),
  OTEL_EXPORTER_OTLP_HEADERS: keyValues.default({}),
  OTEL_SERVICE_NAME: z.string().default("stepwell"),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: oneOf(["true", "false"]).default("false"),
});

const completeSchema = schema
  .refine(({ SMTP_URL, SMTP_FROM }) => (SMTP_URL === undefined) === (SMTP_FROM === undefined), {
    path: ["SMTP_URL"],
    error: "and SMTP_FROM belong together",
  })
  .refine(
    ({ STEPWELL_METRICS_TOKEN: token, STEPWELL_METRICS_PORT: port, STEPWELL_PROCESSES: processes }) =>
      token === undefined || port !== undefined || processes === "1",
    {
      path: ["STEPWELL_METRICS_TOKEN"],
      error:
        "needs STEPWELL_METRICS_PORT when STEPWELL_PROCESSES is not 1: behind one port, each scrape would reach another process",
    },
  );

const SETTINGS = Object.keys(schema.shape);

export type Environment = ReturnType<typeof readEnvironment>;

/**
 * Reads and checks the configuration, the only reader of process.env. Throws StartError, which
 * names every wrong variable. .env.example describes
 * every variable.
 */
export function readEnvironment(source: Record<string, string | undefined> = process.env) {
  const names = SETTINGS.filter((name) => source[name]);
  const parsed = completeSchema.safeParse(Object.fromEntries(names.map((name) => [name, source[name]])));
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
    throw new StartError(`The configuration is invalid:\n${lines.join("\n")}\nSee .env.example.`);
  }
  const value = parsed.data;
  return {
    port: value.PORT,
    host: value.HOST,
    appUrl: appUrlOf(value),
    appUrlGiven: Boolean(value.APP_URL ?? source.PORT),
    databaseUrl: value.DATABASE_URL,
    dataDir: value.STEPWELL_DATA_DIR,
    demo: value.STEPWELL_DEMO === "on",
    secret: value.STEPWELL_SECRET,
    previousSecret: value.STEPWELL_SECRET_PREVIOUS,
    openai:
      value.OPENAI_API_KEY || value.OPENAI_BASE_URL
        ? { api: value.OPENAI_API, apiKey: value.OPENAI_API_KEY, baseUrl: value.OPENAI_BASE_URL }
        : undefined,
    ...readFiles(value, source),
    defaultModel: value.DEFAULT_MODEL,
    egressAllow: value.EGRESS_ALLOW,
    smtp: readSmtp(value),
    // For one organization.
    recipientsPerHour: value.SMTP_RECIPIENTS_PER_HOUR,
    trustProxy: value.TRUST_PROXY,
    logLevel: value.LOG_LEVEL,
    slots: value.STEPWELL_SLOTS,
    processes:
      value.STEPWELL_PROCESSES === "auto" ? availableParallelism() : Number(value.STEPWELL_PROCESSES),
    role: value.STEPWELL_ROLE,
    // A process that stops still accepts requests for this time, and is not ready.
    drainMs: value.STEPWELL_DRAIN_SECONDS * 1_000,
    metrics: readMetrics(value),
    // For durability tests: the process kills itself there, with this probability.
    pausePoints: value.STEPWELL_PAUSE_POINTS,
    inngest: readInngest(value),
    traces: readTraces(value),
    unknownSettings: describeUnknownSettings(
      Object.keys(source).filter((name) => source[name]),
      SETTINGS,
    ),
  };
}

type Variables = z.output<typeof schema>;

/** Without a trailing slash. Decides origin and Secure cookies. */
function appUrlOf({ APP_URL, PORT }: Variables): string {
  return (APP_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, "");
}

/**
 * Unset: the embedded engine drives runs. `dev`: `1`, `true` or a dev server's address, which accepts unsigned
 * calls. `serveOrigin`: where the server reaches executing processes.
 */
function readInngest(value: Variables) {
  const { INNGEST_DEV, INNGEST_BASE_URL: baseUrl, INNGEST_EVENT_KEY: eventKey } = value;
  const signingKey = value.INNGEST_SIGNING_KEY;
  const dev = INNGEST_DEV === "0" || INNGEST_DEV === "false" ? undefined : INNGEST_DEV;
  if (!dev && !baseUrl && !eventKey && !signingKey) return undefined;
  const serveOrigin = new URL(value.INNGEST_SERVE_ORIGIN ?? appUrlOf(value)).origin;
  return { dev, baseUrl, eventKey, signingKey, serveOrigin };
}

/** Undefined: no metrics. With `port`, they are only there; `token`: what a scraper must send. */
function readMetrics({ STEPWELL_METRICS_TOKEN: token, STEPWELL_METRICS_PORT: port }: Variables) {
  return token === undefined && port === undefined ? undefined : { token, port };
}

/** The collector of traces, by the names of OpenTelemetry's own settings. */
export type TraceSettings = {
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** True: spans have the inputs and outputs of runs, steps and models. */
  contents: boolean;
};

function readTraces(value: Variables): TraceSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = value;
  const url = own ?? (base === undefined ? undefined : `${base.replace(/\/+$/, "")}/v1/traces`);
  if (url === undefined) return undefined;
  return {
    url,
    headers: value.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: value.OTEL_SERVICE_NAME,
    contents: value.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT === "true",
  };
}

function readSmtp({ SMTP_URL, SMTP_FROM: from, SMTP_REQUIRE_TLS }: Variables): SmtpSettings | undefined {
  if (SMTP_URL === undefined || from === undefined) return undefined;
  const url = new URL(SMTP_URL);
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // Without a password, and within this machine, nothing is to be protected.
    requireTls: SMTP_REQUIRE_TLS && url.password !== "" && !isLoopback(host),
    user: url.username === "" ? undefined : decodeURIComponent(url.username),
    password: url.password === "" ? undefined : decodeURIComponent(url.password),
    from,
  };
}

function readFiles(variables: Variables, source: Record<string, string | undefined>) {
  const issues: string[] = [];
  const read = <T>(name: "PRICE_LIST" | "MODEL_PROVIDERS", preset: T, reader: (path: string) => T): T => {
    const path = variables[name];
    if (path === undefined) return preset;
    try {
      return reader(path);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      issues.push(`  ${name} ${error.message}`);
      return preset;
    }
  };
  const prices = read("PRICE_LIST", DEFAULT_PRICES, readPriceList);
  const providers = read<NamedProvider[]>("MODEL_PROVIDERS", [], (path) => readModelProviders(path, source));
  if (issues.length === 0) return { prices, providers };
  throw new StartError(
    `The configuration is invalid:\n${issues.join("\n")}\nSee docs/configuration-files.md.`,
  );
}
