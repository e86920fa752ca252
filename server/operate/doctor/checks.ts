import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { defineQuery, isOpenSql } from "@/server/base/db/statement";
import { offerSetUp } from "@/server/catalog/organization/set-up";
import { createEncryption } from "@/server/guard/secrets/encryption";
import { readSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import { WAITING } from "@/server/runs/engine/run-state";
import type { Services } from "@/server/services";
import { findUnreadable } from "../find-unreadable";
import { readDisk } from "../system/disk";
import { listMigrations, readServerVersion } from "../system/versions";
import { type Finding, fail, ok, warn } from "./finding";

const MAX_SKEW_MS = 2_000;
const GIB = 1024 ** 3;

// Since before $1: runs without a slot, runs that an Inngest server does not call, and runs whose worker is gone.
const COUNT_HELD_UP = defineQuery(
  "count-held-up-runs",
  z.object({ waiting: z.number(), uncalled: z.number(), stalled: z.number() }),
  `SELECT (SELECT count(*)::int FROM runs WHERE ${WAITING} AND status = 'Pending' AND created_at < $1) AS waiting,
     (SELECT count(*)::int FROM runs
      WHERE ${isOpenSql()} AND admitted_at < $1 AND claimed_by IS NULL AND parent_run_id IS NULL) AS uncalled,
     (SELECT count(*)::int FROM runs r LEFT JOIN workers w ON w.id = r.claimed_by
      WHERE r.status = 'Running' AND r.wake_at IS NULL AND r.parent_run_id IS NULL
        AND coalesce(w.heartbeat_at, r.yielded_at[cardinality(r.yielded_at)], r.started_at) < $1) AS stalled`,
);
const READ_CLOCK = defineQuery(
  "read-database-clock",
  z.object({ now: z.date() }),
  "SELECT clock_timestamp() AS now",
);

const READ_WRITABLE = defineQuery(
  "read-writable",
  z.object({ recovers: z.boolean(), readOnly: z.boolean() }),
  `SELECT pg_is_in_recovery() AS recovers, current_setting('default_transaction_read_only')::boolean AS "readOnly"`,
);

const READ_ARCHIVER = defineQuery(
  "read-archiver",
  z.object({ mode: z.string(), archivedAt: z.date().nullable(), failedAt: z.date().nullable() }),
  `SELECT current_setting('archive_mode') AS mode, last_archived_time AS "archivedAt", last_failed_time AS "failedAt"
   FROM pg_stat_archiver`,
);

/** `names`: findings may name what belongs to an organization. */
export type CheckOptions = { names: boolean };
type Check = (services: Services, options: CheckOptions) => Promise<Finding>;

/** The checks that judge no settings but those of the database. */
export const CHECKS: Record<string, Check> = {
  // Every command rejects an older version before it starts.
  Node: async () => ok(process.version),
  async database({ pool }) {
    const version = await readServerVersion(pool);
    const [{ recovers, readOnly } = { recovers: false, readOnly: false }] = await READ_WRITABLE(pool);
    if (recovers)
      return fail(`PostgreSQL ${version} rejects writes: its recovery has not ended, or it is a standby.`);
    if (readOnly) return fail(`PostgreSQL ${version} rejects writes: default_transaction_read_only is on.`);
    return Number.parseInt(version, 10) >= 15
      ? ok(`PostgreSQL ${version}`)
      : warn(`PostgreSQL ${version} is not supported; use 15 or later.`);
  },
  async migrations({ pool }) {
    const wanted = (await readdir(join(process.cwd(), "prisma/migrations"), { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
    const rows = await listMigrations(pool);
    const broken = rows.filter((row) => !row.finished).map((row) => row.name);
    if (broken.length > 0) {
      return fail(
        `${broken.join(", ")} did not finish. Restore a backup, or repair it by hand and mark it finished.`,
      );
    }
    const applied = new Set(rows.map((row) => row.name));
    const missing = wanted.filter((name) => !applied.has(name));
    if (missing.length > 0)
      return fail(`${missing.join(", ")} not applied. Start the service once: it migrates.`);
    const unknown = [...applied].filter((name) => !wanted.includes(name));
    if (unknown.length > 0) {
      return warn(
        `The database has ${unknown.join(", ")}, which this version does not know: it is older than the database.`,
      );
    }
    return ok(`${applied.size} applied`);
  },
  async secret(services, { names }) {
    const known = await readSecretFingerprint(services);
    if (known === null) return warn("The database has no fingerprint yet: start the service once.");
    if (known === services.encryption.previousFingerprint) {
      return warn("STEPWELL_SECRET_PREVIOUS is still the database's secret: run `service-secret rotate`.");
    }
    if (known !== services.encryption.fingerprint) {
      return fail(
        "STEPWELL_SECRET is not the secret of this database. Set the earlier value, or accept the new one with `service-secret adopt`.",
      );
    }
    const lost = await findUnreadable(services);
    if (lost.length > 0) {
      return warn(
        `Could not decrypt ${names ? lost.join(", ") : `${lost.length} of all secrets, triggers and callbacks; \`doctor\` on the command line names them`}. Apply triggers again with their secrets, set values of secrets again, and rotate the secrets of callbacks.`,
      );
    }
    if (services.encryption.previousFingerprint === null) return ok(`fingerprint ${known}`);
    const outdated = await findUnreadable({ ...services, encryption: createEncryption(services.env.secret) });
    return outdated.length > 0
      ? warn(
          "A process with the old secret saved values during the rotation: run `service-secret rotate` again.",
        )
      : warn("The rotation is complete: remove STEPWELL_SECRET_PREVIOUS and restart every process.");
  },
  async access(services) {
    const link = await offerSetUp(services);
    if (link !== null) {
      return warn(
        `No organization exists, so sign-in is not possible. Create the first one within a day: ${link} (works once), or run \`organizations create\`.`,
      );
    }
    const members = await services.db.user.count({ where: { members: { some: {} } } });
    return members === 0
      ? warn(
          "No organization has a member, so sign-in is not possible. Run `users create EMAIL --org ORG --role owner`.",
        )
      : ok(`${members === 1 ? "1 person has" : `${members} people have`} access`);
  },
  async runs({ pool, clock }) {
    const since = new Date(clock.now().getTime() - 10 * 60_000);
    const [{ waiting, uncalled, stalled } = { waiting: 0, uncalled: 0, stalled: 0 }] = await COUNT_HELD_UP(
      pool,
      [since],
    );
    if (uncalled > 0) {
      return warn(
        `An Inngest server was given ${uncalled} runs over 10 minutes ago and does not call them: can it reach APP_URL (or INNGEST_SERVE_ORIGIN)?`,
      );
    }
    if (waiting + stalled === 0) return ok("no run waits for long");
    return warn(
      `${waiting} without a slot and ${stalled} without a worker for 10 minutes: is the service running?`,
    );
  },
  async backups({ pool }) {
    const [{ mode, archivedAt, failedAt } = { mode: "off", archivedAt: null, failedAt: null }] =
      await READ_ARCHIVER(pool);
    if (mode === "off") {
      return ok("PostgreSQL does not archive its WAL: a restore loses what came after the last backup");
    }
    if (failedAt !== null && (archivedAt === null || failedAt > archivedAt)) {
      const last = archivedAt === null ? "never succeeded" : `last succeeded at ${archivedAt.toISOString()}`;
      return warn(`PostgreSQL cannot archive its WAL; it ${last}. Its log has the cause.`);
    }
    return ok(
      archivedAt === null
        ? "PostgreSQL has archived no WAL yet"
        : `WAL archived at ${archivedAt.toISOString()}`,
    );
  },
  async disk({ env }) {
    const { free } = await readDisk(env);
    const text = `${(free / GIB).toFixed(1)} GiB free`;
    return free < GIB ? warn(`${text}: free some space before the database runs out of it.`) : ok(text);
  },
  async clock({ pool, clock }) {
    const before = clock.now().getTime();
    const [database] = await READ_CLOCK(pool);
    const middle = (before + clock.now().getTime()) / 2;
    const skew = Math.round((database?.now.getTime() ?? middle) - middle);
    return Math.abs(skew) <= MAX_SKEW_MS
      ? ok(`${Math.abs(skew)} ms from the database's clock`)
      : warn(`${Math.abs(skew)} ms from the database's clock: synchronize both with a time server.`);
  },
};
