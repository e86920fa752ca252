import { readFileSync } from "node:fs";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startThrowawayService } from "../throwaway-service.mjs";

/**
 * Measures an export of many runs through the built service on a throwaway data folder: time and memory with a fast and a
 * slow reader, and the service's work after a reader disconnects. Linux only.
 *
 *   node scripts/bench/export.mjs [RUNS]
 *
 * Of 500 runs, 479 have a kilobyte of output, 20 have 32 kB, and one has 1 to 4 MB.
 */
const RUNS = Number(process.argv[2] ?? 100_000);
/** How long to wait for memory to settle, and for work to show that should have ended. */
const REST_MS = 3_000;
const SLOW_MS = 30_000;
const SLOW_BYTES_PER_MS = 2_000;
const MB = 1_000_000;

const SEED = `
CREATE TEMPORARY TABLE texts AS
SELECT n, (SELECT string_agg(md5((g * n)::text) || CASE g % 4 WHEN 0 THEN '", "' WHEN 1 THEN E'\\n' ELSE ' ' END, '')
           FROM generate_series(1, CASE n WHEN 0 THEN 30 WHEN 1 THEN 940 ELSE 29000 * (n - 1) END) g) AS text
FROM generate_series(0, 5) n;
INSERT INTO runs (id, organization_id, kind, agent_id, target_name, target_version, model, configuration_hash, source, status,
                  root_run_id, input, output, created_at, started_at, finished_at, deadline_seconds)
SELECT id, organization_id, kind, agent_id, target_name, target_version, model, configuration_hash, 'operator', 'Completed',
       id, input, text, at, at, at + interval '2 seconds', deadline_seconds
FROM (
  SELECT r.*, texts.text, made.at,
    (overlay(lpad(to_hex((extract(epoch FROM made.at) * 1000)::bigint), 12, '0') PLACING '-' FROM 9 FOR 0)
      || '-7000-8000-' || lpad(to_hex(made.n), 12, '0'))::uuid AS id
  FROM (SELECT n, now() - n * interval '20 seconds' AS at FROM generate_series(1, ${RUNS}) n) made
  JOIN texts ON texts.n = CASE WHEN made.n % 500 = 0 THEN 2 + made.n / 500 % 4 WHEN made.n % 25 = 0 THEN 1 ELSE 0 END,
  (SELECT agent_id, organization_id, kind, target_name, target_version, model, configuration_hash, input, deadline_seconds
   FROM runs WHERE kind = 'agent' ORDER BY id LIMIT 1) r
) filled`;

const service = await startThrowawayService();
try {
  const began = Date.now();
  await service.withDatabase((client) => client.query(SEED));
  console.log(`${RUNS} runs made in ${Math.round((Date.now() - began) / 1_000)} s.`);
  const cookie = await signIn();
  const rows = [];
  for (const { format, encoding } of [
    { format: "json", encoding: "identity" },
    { format: "csv", encoding: "identity" },
    { format: "json", encoding: "gzip" },
  ]) {
    const reading = await watchMemory(() => readExport({ cookie, format, encoding, take: async () => true }));
    rows.push({ what: `${format}, ${encoding}`, ...reading });
  }
  const slow = await watchMemory(() => {
    const until = Date.now() + SLOW_MS;
    let at = Date.now();
    const take = async (/** @type {number} */ bytes) => {
      await sleep(Math.max(0, at + bytes / SLOW_BYTES_PER_MS - Date.now()));
      at = Date.now();
      return at < until;
    };
    return readExport({ cookie, format: "json", encoding: "identity", take });
  });
  rows.push({ what: "json, 2 MB a second, broken off", ...slow });
  const rest = await watchMemory(() => sleep(REST_MS, { megabytes: 0 }));
  rows.push({ what: "after the break, nobody reading", ...rest });
  console.table(rows);
  await printActivity();
} finally {
  await service.stop();
}

/** @returns {Promise<string>} the cookie of the demo's owner */
async function signIn() {
  const answer = await fetch(`${service.base}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.base },
    body: JSON.stringify(service.login),
  });
  if (!answer.ok) throw new Error(`Signing in was answered ${answer.status}.`);
  return answer.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
}

/**
 * Reads an export until `take`, which gets the bytes of each chunk and may be slow, returns false.
 * @param {{ cookie: string, format: string, encoding: string, take: (bytes: number) => Promise<boolean> }} how
 * @returns {Promise<{ megabytes: number }>}
 */
async function readExport({ cookie, format, encoding, take }) {
  const headers = { cookie, "accept-encoding": encoding };
  /** @type {import("node:http").IncomingMessage} */
  const answer = await new Promise((resolve, reject) => {
    get(`${service.base}/api/runs/export?format=${format}`, { headers }, resolve).on("error", reject);
  });
  if (answer.statusCode !== 200) throw new Error(`The export was answered ${answer.statusCode}.`);
  let bytes = 0;
  for await (const piece of answer) {
    bytes += piece.length;
    if (!(await take(piece.length))) break;
  }
  answer.destroy();
  return { megabytes: Math.round(bytes / MB) };
}

/** @param {() => Promise<{ megabytes: number }>} work */
async function watchMemory(work) {
  await sleep(REST_MS);
  const before = residentMb();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, residentMb());
  }, 50);
  const cpu = cpuSeconds();
  const began = Date.now();
  const result = await work();
  const seconds = (Date.now() - began) / 1_000;
  clearInterval(timer);
  return {
    ...result,
    seconds: Number(seconds.toFixed(1)),
    cpuSeconds: Number((cpuSeconds() - cpu).toFixed(1)),
    residentBeforeMb: before,
    residentMostMb: most,
  };
}

function residentMb() {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1] ?? 0;
  return Math.round((Number(kilobytes) * 1_024) / MB);
}

/** User and system time so far; the kernel counts in hundredths of a second. */
function cpuSeconds() {
  const fields = readFileSync(`/proc/${service.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The service's statements about runs since the reader disconnected, and its busy connections. */
async function printActivity() {
  const { rows } = await service.withDatabase((client) =>
    client.query(`
      SELECT count(*) FILTER (WHERE state <> 'idle')::int AS busy, count(*) FILTER (WHERE query ILIKE '%octet_length(r.input)%'
        AND query_start > now() - interval '${REST_MS - 500} ms')::int AS "lateStatements", count(*)::int AS connections
      FROM pg_stat_activity WHERE application_name = 'stepwell'`),
  );
  console.table(rows);
}
