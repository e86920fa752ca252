import { describeProcess, type ProcessSettings } from "@/server/runs/engine/process-settings";
import type { Services } from "@/server/services";
import { checkInngestServer, isUsable, readInngestServer } from "../inngest-server";
import { listProcesses } from "../system/processes";
import { type Finding, fail, type Judged, ok, warn } from "./finding";

/** Judges the settings that running processes store with their heartbeats; without a process, this shell's. */

/** All findings about settings, in the order in which `doctor` prints them. */
export async function checkSettings(services: Services): Promise<Judged[]> {
  const rows = await listProcesses(services).catch(() => null);
  const running = (rows ?? []).flatMap(({ settings }) => settings ?? []);
  const judged = running.length > 0 ? running : [describeProcess(services)];
  return [
    { what: "settings", ...describeSource(running, rows?.length ?? null) },
    ...(rows === null ? [] : [{ what: "engine", ...(await checkEngine(services, running, rows.length)) }]),
    ...Object.entries(CHECKS).flatMap(([what, check]) =>
      judgeAll(judged, check).map((each) => ({ what, ...each })),
    ),
  ];
}

function judgeAll(
  judged: readonly ProcessSettings[],
  check: (settings: ProcessSettings) => Finding[],
): Finding[] {
  const found = new Map<string, Finding & { of: ProcessSettings[] }>();
  for (const settings of judged) {
    for (const finding of check(settings)) {
      const known = found.get(finding.text);
      if (known === undefined) found.set(finding.text, { ...finding, of: [settings] });
      else known.of.push(settings);
    }
  }
  return [...found.values()].map(({ of, level, text }) =>
    of.length === judged.length ? { level, text } : { level, text: `${text} (${of.map(nameOf).join(", ")})` },
  );
}

const nameOf = ({ host, pid }: ProcessSettings) => `process ${pid} on ${host}`;

function describeSource(running: readonly ProcessSettings[], live: number | null): Finding {
  if (running.length > 0) {
    const [first] = running;
    return ok(
      running.length === 1 && first !== undefined
        ? `those of the running service: ${nameOf(first)}`
        : `those of the running service: ${running.length} processes on ${listHosts(running)}`,
    );
  }
  if (live === null) {
    return warn(
      "The database cannot be read, or is not migrated, so the running service is not known. These are the settings of this shell and .env.",
    );
  }
  return live > 0
    ? warn("The running service is of an earlier version. These are the settings of this shell and .env.")
    : warn("No service runs on this database. These are the settings of this shell and .env.");
}

const listHosts = (running: readonly ProcessSettings[]) =>
  [...new Set(running.map(({ host }) => host))].join(", ");

async function checkEngine(
  { env }: Pick<Services, "env">,
  running: readonly ProcessSettings[],
  live: number,
): Promise<Finding> {
  const isInngest = running.length > 0 ? running.some(({ inngest }) => inngest) : env.inngest !== undefined;
  if (!isInngest) return ok(`embedded, ${live === 1 ? "1 live worker" : `${live} live workers`}`);
  // The keys of the service are not stored.
  if (env.inngest === undefined) {
    return warn(
      "The service uses an Inngest server, but this shell has no INNGEST_* settings: /api/ready of the service checks them.",
    );
  }
  const report = await checkInngestServer(env.inngest);
  return isUsable(report)
    ? ok(`Inngest (${readInngestServer(env.inngest).baseUrl ?? "cloud"}): address and keys are right`)
    : fail(report.texts.join(" "));
}

const CHECKS: Record<string, (settings: ProcessSettings) => Finding[]> = {
  models({ provider, defaultModel, providerAddress }) {
    if (provider === "demo") {
      return [
        warn("No provider is configured: the demo model answers. Set OPENAI_API_KEY or OPENAI_BASE_URL."),
      ];
    }
    return [ok(`${defaultModel} is served by ${provider}${providerAddress ? ` (${providerAddress})` : ""}`)];
  },
  address({ appUrl, trustProxy }) {
    const { hostname, protocol } = new URL(appUrl);
    if (hostname === "localhost" || hostname === "127.0.0.1") {
      return [warn(`APP_URL is ${appUrl}: webhook senders elsewhere cannot reach it.`)];
    }
    // Stepwell itself serves plain HTTP.
    if (protocol === "https:" && !trustProxy) {
      return [
        warn(
          `${appUrl} needs a proxy, and TRUST_PROXY is not set: all clients share the proxy's address. Set TRUST_PROXY=1 if the proxy appends to X-Forwarded-For.`,
        ),
      ];
    }
    return [protocol === "https:" ? ok(appUrl) : warn(`${appUrl} is not https: keys are sent unencrypted.`)];
  },
  egress: ({ egressAllow }) => [
    egressAllow.length === 0
      ? ok("functions cannot reach private addresses")
      : ok(`functions may also reach ${egressAllow.join(", ")}`),
  ],
  names: ({ unknownSettings }) => unknownSettings.map((text) => warn(text)),
};
