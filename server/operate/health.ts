import { z } from "zod";
import { defineQuery } from "@/server/base/db/statement";
import { sleep } from "@/server/base/sleep";
import type { Services } from "@/server/services";
import { type InngestReport, isUsable, recallInngestServer } from "./inngest-server";

const PATIENCE_MS = 2_000;

const PING = defineQuery("ping", z.object({}), "SELECT");

export type Readiness = {
  ready: boolean;
  database: "ok" | "unreachable" | "rejects writes";
  engine: "ok" | "not ready";
  inngest?: Omit<InngestReport, "texts">;
};

/**
 * Checks if this process can serve: the database stores writes, the engine takes runs, and an Inngest server
 * accepts the settings, each within two seconds. Never throws.
 */
export async function checkReadiness(
  services: Pick<Services, "pool" | "engine" | "log" | "env">,
): Promise<Readiness> {
  const { inngest: settings, role } = services.env;
  // A process that only serves leaves its runs to others.
  const executes = role !== "web";
  const [database, engine, inngest] = await Promise.all([
    holds(PING(services.pool).then(() => true)),
    !executes || holds(services.engine.ready()),
    executes && settings !== undefined ? recallInngestServer(settings) : undefined,
  ]);
  const writes = services.engine.canWrite();
  const readiness: Readiness = {
    ready: database && writes && engine && (inngest === undefined || isUsable(inngest)),
    database: !database ? "unreachable" : writes ? "ok" : "rejects writes",
    engine: engine ? "ok" : "not ready",
  };
  if (inngest === undefined) return readiness;
  const { address, eventKey, signingKey } = inngest;
  return { ...readiness, inngest: { address, eventKey, signingKey } };
}

const POLL_MS = 250;
// Polls before the first message (5 s), and between two (30 s).
const FIRST_LINE = 20;
const NEXT_LINE = 120;

/**
 * Waits until this process can serve. Prints the missing parts after 5 s, then every 30 s. False if `signal` was
 * aborted first.
 */
export async function waitUntilReady(
  services: Parameters<typeof checkReadiness>[0],
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  for (let poll = 0; !signal.aborted; poll += 1) {
    const { ready, database, engine } = await checkReadiness(services);
    if (ready) return true;
    if (poll >= FIRST_LINE && (poll - FIRST_LINE) % NEXT_LINE === 0) {
      const { inngest } = services.env;
      const { texts } = inngest === undefined ? { texts: [] } : await recallInngestServer(inngest);
      const why = texts.length > 0 ? ` ${texts.join(" ")}` : "";
      print(
        `Stepwell listens but is not ready yet (database ${database}, engine ${engine}).${why} Waiting …`,
      );
    }
    await sleep(POLL_MS, signal);
  }
  return false;
}

async function holds(fact: Promise<boolean>): Promise<boolean> {
  const known = new AbortController();
  const late = sleep(PATIENCE_MS, known.signal).then(() => false);
  return Promise.race([fact, late])
    .catch(() => false)
    .finally(() => known.abort());
}
