import { createHash } from "node:crypto";
import { codeOf } from "@/server/base/errors";
import type { Environment } from "@/server/base/settings/env";

type InngestServer = {
  isDev: boolean;
  /** Undefined: Inngest's cloud. */
  baseUrl: string | undefined;
  eventKey: string | undefined;
  signingKey: string | undefined;
};

type Settings = NonNullable<Environment["inngest"]>;

const DEV_SERVER = "http://127.0.0.1:8288";
const CLOUD = { events: "https://inn.gs", api: "https://api.inngest.com" };
const PATIENCE_MS = 1_500;
/** Probes and pages ask often. */
const REMEMBERED_MS = 2_000;

export function readInngestServer({ dev, baseUrl, eventKey, signingKey }: Settings): InngestServer {
  const isDev = dev !== undefined;
  const devUrl = dev?.startsWith("http") ? dev : DEV_SERVER;
  return {
    isDev,
    baseUrl: (baseUrl ?? (isDev ? devUrl : undefined))?.replace(/\/+$/, ""),
    // A dev server accepts any key.
    eventKey: eventKey ?? (isDev ? "dev" : undefined),
    signingKey,
  };
}

/** The settings that the server accepts. `texts` name each issue and its variable, for the operator only. */
export type InngestReport = {
  address: "ok" | "unreachable" | "wrong";
  eventKey: Part;
  signingKey: Part;
  texts: string[];
};
type Part = "ok" | "rejected" | "unknown";

/** Asks the server whether it accepts the settings, within 1.5 seconds. Sends no event. Never throws. */
export async function checkInngestServer(settings: Settings): Promise<InngestReport> {
  const server = readInngestServer(settings);
  const { isDev, baseUrl } = server;
  const address = baseUrl ?? "Inngest's cloud";
  const [events = "", api = ""] = baseUrl === undefined ? [CLOUD.events, CLOUD.api] : [baseUrl, baseUrl];
  const variable = settings.baseUrl === undefined && isDev ? "INNGEST_DEV" : "INNGEST_BASE_URL";
  const [health, eventKey, signingKey] = await Promise.all([
    ask(`${api}/health`),
    // A call without an event only shows whether the key is known.
    ask(`${events}/e/${encodeURIComponent(server.eventKey ?? "")}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "[]",
    }),
    ask(`${api}/v1/events?limit=1`, { headers: { Authorization: `Bearer ${hashSigningKey(server)}` } }),
  ]);
  const report: InngestReport = { address: "ok", eventKey: "unknown", signingKey: "unknown", texts: [] };
  if (health.error !== null) {
    report.address = "unreachable";
    report.texts.push(`${address} does not answer (${health.error}): check ${variable}, and that it runs.`);
    return report;
  }
  // Only a self-hosted server names itself.
  if (baseUrl !== undefined && health.serverKind !== (isDev ? "dev" : "cloud")) {
    report.address = "wrong";
    report.texts.push(describeWrongKind(address, health.serverKind, variable));
    return report;
  }
  report.eventKey = partOf(eventKey);
  report.signingKey = partOf(signingKey);
  if (report.eventKey !== "ok") report.texts.push(describePart(address, "INNGEST_EVENT_KEY", eventKey));
  if (report.signingKey !== "ok") report.texts.push(describePart(address, "INNGEST_SIGNING_KEY", signingKey));
  return report;
}

const recent = new WeakMap<Settings, { at: number; report: Promise<InngestReport> }>();

/** `checkInngestServer`, at most once in two seconds for the same settings. */
export function recallInngestServer(settings: Settings): Promise<InngestReport> {
  const known = recent.get(settings);
  if (known !== undefined && performance.now() - known.at < REMEMBERED_MS) return known.report;
  const report = checkInngestServer(settings);
  recent.set(settings, { at: performance.now(), report });
  return report;
}

export function isUsable({ address, eventKey, signingKey }: InngestReport): boolean {
  return address === "ok" && eventKey === "ok" && signingKey === "ok";
}

type Answer = { status: number; serverKind: string | null; error: string | null };

async function ask(url: string, request: RequestInit = {}): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, { ...request, signal, redirect: "manual" });
    await response.body?.cancel();
    return {
      status: response.status,
      serverKind: response.headers.get("x-inngest-server-kind"),
      error: null,
    };
  } catch (error) {
    return { status: 0, serverKind: null, error: describeNetworkError(error) };
  }
}

function describeNetworkError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === "TimeoutError") return `nothing within ${PATIENCE_MS} ms`;
  return codeOf(cause) || cause.message;
}

function partOf({ status }: Answer): Part {
  if (status === 401 || status === 403 || status === 404) return "rejected";
  return status >= 200 && status < 300 ? "ok" : "unknown";
}

function describePart(address: string, variable: string, answer: Answer): string {
  if (partOf(answer) === "rejected")
    return `${address} rejects ${variable}: set the one that it was started with.`;
  return `${address} could not check ${variable} (${answer.error ?? `status ${answer.status}`}).`;
}

function describeWrongKind(address: string, kind: string | null, variable: string): string {
  if (kind === "dev")
    return `${address} is a dev server: set INNGEST_DEV=${address}, and no other INNGEST variable.`;
  if (kind === "cloud")
    return `${address} is not a dev server: set INNGEST_BASE_URL, INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY, and not INNGEST_DEV.`;
  return `${address} is not an Inngest server: check ${variable}.`;
}

// Servers identify a key by the SHA-256 of its bytes.
function hashSigningKey({ signingKey = "" }: InngestServer): string {
  const digits = signingKey.replace(/^signkey-\w+-/, "");
  const prefix = signingKey.slice(0, signingKey.length - digits.length);
  return prefix + createHash("sha256").update(Buffer.from(digits, "hex")).digest("hex");
}
