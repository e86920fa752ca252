import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

let clone: string;
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "stepwell-clone-"));
  cpSync("scripts", join(clone, "scripts"), { recursive: true });
  const files = ["package.json", "package-lock.json", ".env.example"];
  // What the scripts read from the service.
  files.push("server/guard/secrets/secret-fingerprint.mjs");
  for (const file of files) cpSync(file, join(clone, file));
});
afterAll(() => {
  chmodSync(clone, 0o755);
  rmSync(clone, { recursive: true });
});

const NOBODY = 65_534;

function start(
  env: Record<string, string> = {},
  script = ["start.mjs"],
): { status: number | null; output: string } {
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`scripts/${script[0]}`, ...script.slice(1)],
    {
      ...user,
      cwd: clone,
      env: { NODE_ENV: "production", PATH: process.env.PATH, PORT: "0", ...env },
      encoding: "utf8",
      timeout: 30_000,
    },
  );
  return { status, output: `${stdout}${stderr}`.trim() };
}

test.skipIf(process.platform === "win32")("a clone that the user cannot write is a sentence", () => {
  chmodSync(clone, 0o555);
  const { status, output } = start();
  expect(status).toBe(1);
  expect(output).toMatch(
    /^\/\S+\/dist cannot be written by the user \S+: npm start installs and builds in its own folder\. Give the folder to that user \(sudo chown -R \S+ \/\S+\), or clone it again as that user\.$/,
  );
});

test("a database of one's own needs a secret", () => {
  const { status, output } = start({ DATABASE_URL: "postgres://root:s3cret@localhost/x" });
  expect(status).toBe(1);
  expect(output).toMatch(/^With DATABASE_URL set, STEPWELL_SECRET is required/);
  expect(output).not.toContain("s3cret");
});

test.skipIf(process.platform === "win32").each(["help", "api"])(
  "%s needs no secret beside the DATABASE_URL of another program",
  (command) => {
    chmodSync(clone, 0o555);
    const { output } = start({ DATABASE_URL: "postgres://localhost/x" }, ["stepwell.mjs", command]);
    // It goes on to the installation.
    expect(output).toMatch(/^\/\S+\/dist cannot be written/);
  },
);

test("a data folder that is a file is a sentence", () => {
  const file = join(clone, "package.json");
  const { status, output } = start({ STEPWELL_DATA_DIR: file });
  expect(status).toBe(1);
  expect(output).toBe(
    `The data folder ${file} is a file. Set STEPWELL_DATA_DIR to a folder; it is created if it does not exist.`,
  );
});

test("a port that is none is named with the range", () => {
  expect(start({ PORT: "99999" }).output).toBe(
    'PORT must be a whole number from 0 to 65535, such as 3000; it is "99999".',
  );
});

test.each(["doctor", "backup"])("%s creates no database", (command) => {
  const data = join(clone, "nothing");
  const { status, output } = start({ STEPWELL_DATA_DIR: data }, ["stepwell.mjs", command]);
  expect(status).toBe(1);
  expect(output).toBe(
    `There is no database yet: DATABASE_URL is not set, and ${data} has none. The first npm start creates it. If it is in another folder, set STEPWELL_DATA_DIR.`,
  );
  expect(existsSync(data)).toBe(false);
});
