import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { SetupError } from "../project.mjs";

/**
 * The account for PostgreSQL: it refuses root, so a start as root uses an account without rights.
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
    "PostgreSQL refuses to run as root, and no account for it could be found or created. " +
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
 * Whether the account can enter `folder` and write there. It tries, because parents, groups and access lists all
 * matter.
 * @param {Account | undefined} account
 * @param {string} folder
 */
export function canWriteIn(account, folder) {
  const tried = spawnSync("/bin/sh", ["-c", 'cd -- "$1" && [ -w . ]', "sh", folder], {
    ...runAs(account),
    cwd: "/",
    stdio: "ignore",
  });
  return tried.status === 0;
}
