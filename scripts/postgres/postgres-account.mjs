import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SetupError } from "../support/project.mjs";

/**
 * The account for PostgreSQL: it does not run as root, so a start as root uses an account without rights.
 * @typedef {{ uid: number, gid: number, name: string }} Account
 */

const NEW_ACCOUNT = "stepwell";

/**
 * The account for PostgreSQL; undefined if this process is not root and can run it itself. For root it is `postgres` or
 * `stepwell` if one exists, else `stepwell` is created, else `nobody`.
 * @returns {Account | undefined}
 */
export function findAccount() {
  if (process.getuid?.() !== 0) return undefined;
  const found = lookUp("postgres") ?? lookUp(NEW_ACCOUNT) ?? create() ?? lookUp("nobody");
  if (found) return found;
  throw new SetupError(
    "PostgreSQL does not run as root, and no account for it was found or could be created. " +
      "Create one (`useradd --system stepwell`), run this as an ordinary user, or set DATABASE_URL.",
  );
}

/** @param {string} name @returns {Account | undefined} */
function lookUp(name) {
  const [uid, gid] = ["-u", "-g"].map((flag) => {
    const { status, stdout } = spawnSync("id", [flag, name], { encoding: "utf8" });
    return status === 0 ? Number.parseInt(stdout, 10) : undefined;
  });
  return uid && gid !== undefined ? { uid, gid, name } : undefined;
}

function create() {
  // Debian's and Red Hat's, then Alpine's.
  const ways = [
    ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", NEW_ACCOUNT],
    ["adduser", "-S", "-H", "-D", NEW_ACCOUNT],
  ];
  for (const [command = "", ...parameters] of ways) {
    if (spawnSync(command, parameters, { stdio: "ignore" }).status === 0) return lookUp(NEW_ACCOUNT);
  }
  return undefined;
}

/**
 * The account for a data directory: the owner of an existing one, if this process is root.
 * @param {string} folder
 * @returns {Account | undefined}
 */
export function accountFor(folder) {
  const account = findAccount();
  if (!existsSync(folder) || process.getuid === undefined) return account;
  const { uid, gid } = statSync(folder);
  if (account) return uid === 0 || uid === account.uid ? account : { uid, gid, name: `user ${uid}` };
  if (uid === process.getuid()) return undefined;
  throw new SetupError(
    `${folder} belongs to another user (id ${uid}). Run this as that user or as root, or set STEPWELL_DATA_DIR to another folder.`,
  );
}

/**
 * The options of `spawn` for running something as the account.
 * @param {Account | undefined} account
 */
export function runAs(account) {
  return account ? { uid: account.uid, gid: account.gid } : {};
}

/**
 * The folder in which this process's account can have a cluster: `wanted` if the account can work there, else a folder
 * under /var/lib or the system's temporary folder.
 * @param {string} wanted an absolute path whose parent exists and is ours
 * @param {string} name for the folder elsewhere
 */
export function clusterDirectory(wanted, name) {
  const account = findAccount();
  if (!account || isReachable(dirname(wanted), account)) return wanted;
  for (const parent of ["/var/lib/stepwell", join(tmpdir(), "stepwell")]) {
    const folder = join(parent, name);
    try {
      mkdirSync(folder, { recursive: true });
      chmodSync(parent, 0o755); // Overrides the umask.
      if (isReachable(folder, account)) return join(folder, "postgres");
    } catch {
      // Try the next one.
    }
  }
  throw new SetupError(
    `PostgreSQL runs as ${account.name}, which can write neither to the folder of ${wanted} nor to /var/lib/stepwell.`,
  );
}

/**
 * Returns true if the account can have its own folder in `parent`, which becomes searchable (not readable). It tries,
 * because parents, groups and access lists all matter.
 * @param {string} parent
 * @param {Account} account
 */
function isReachable(parent, account) {
  chmodSync(parent, statSync(parent).mode | 0o001);
  const probe = mkdtempSync(join(parent, ".reach-"));
  try {
    chownSync(probe, account.uid, account.gid);
    const test = ["-c", 'cd -- "$1" && [ -w . ]', "sh", probe];
    return spawnSync("/bin/sh", test, { ...runAs(account), cwd: "/", stdio: "ignore" }).status === 0;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}
