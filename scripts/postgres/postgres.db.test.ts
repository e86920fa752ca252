import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { joinPostgres, watchPostgres } from "./postgres.mjs";
import { runningCluster } from "./postgres-cluster.mjs";
import { createThrowaway, removeThrowaway } from "./throwaway.mjs";

let folder: string;
beforeEach(async () => {
  folder = await createThrowaway();
});
afterEach(() => removeThrowaway(folder));

const cluster = () => join(folder, "postgres");

it("is created and started by the first process and stopped by the last", async () => {
  const first = await joinPostgres(folder);
  const other = await joinElsewhere();
  await first.leave();
  expect(runningCluster(cluster())).toMatchObject({ ready: true });
  expect(await ask(first.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await other.end("leave");
  expect(runningCluster(cluster())).toBeUndefined();
});

it("survives a killed process with its data, and is taken over", async () => {
  const victim = await joinElsewhere();
  await ask(victim.url, "CREATE TABLE kept (id int)");
  const before = runningCluster(cluster());
  await victim.end("kill");
  const next = await joinPostgres(folder);
  expect(runningCluster(cluster())).toEqual(before);
  expect(await ask(next.url, "SELECT count(*)::int AS rows FROM kept")).toEqual([{ rows: 0 }]);
  await next.leave();
  expect(runningCluster(cluster())).toBeUndefined();
});

it("starts again after a crash that left its pid file behind", async () => {
  const first = await joinPostgres(folder);
  const { pid = 0 } = runningCluster(cluster()) ?? {};
  process.kill(pid, "SIGKILL");
  await expect.poll(() => runningCluster(cluster())).toBeUndefined();
  // Another process, this one, has the dead server's id.
  writeFileSync(join(cluster(), "postmaster.pid"), `${process.pid}\n${cluster()}\n0\n1\n`);
  const second = await joinPostgres(folder);
  expect(await ask(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await second.leave();
  await first.leave();
});

it("is restarted at its address when it is killed under a running process", async () => {
  const joined = await joinPostgres(folder);
  const printed: string[] = [];
  const stop = watchPostgres(folder, joined, { print: (line) => printed.push(line), everyMs: 50 });
  const before = runningCluster(cluster());
  process.kill(before?.pid ?? 0, "SIGKILL");
  await expect.poll(() => ask(joined.url, "SELECT 1 AS one").catch(String)).toEqual([{ one: 1 }]);
  await expect.poll(() => printed).toEqual(["The database was killed and has been started again."]);
  expect(runningCluster(cluster())?.pid).not.toBe(before?.pid);
  await stop();
  await joined.leave();
  expect(runningCluster(cluster())).toBeUndefined();
});

it("stores the password in a file that only the owner can read", async () => {
  const { url, leave } = await joinPostgres(folder);
  expect(statSync(join(folder, "postgres.json")).mode & 0o777).toBe(0o600);
  const guess = new URL(url);
  guess.password = "guess";
  await expect(ask(guess.href, "SELECT 1")).rejects.toThrow(/password authentication failed/);
  await leave();
});

it("gets a new password when the file with the old one is lost or damaged", async () => {
  const first = await joinPostgres(folder);
  await ask(first.url, "CREATE TABLE kept (id int)");
  await first.leave();
  writeFileSync(join(folder, "postgres.json"), "{ torn");
  const second = await joinPostgres(folder);
  expect(second.url).not.toBe(first.url);
  expect(await ask(second.url, "SELECT count(*)::int AS rows FROM kept")).toEqual([{ rows: 0 }]);
  await second.leave();
});

it("is created again after an interrupted initdb", async () => {
  const first = await joinPostgres(folder);
  await first.leave();
  rmSync(join(cluster(), "PG_VERSION"));
  rmSync(join(folder, "postgres.json"));
  const second = await joinPostgres(folder);
  expect(await ask(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await second.leave();
});

it.runIf(process.platform === "linux")("reports that no data folder can be made", async () => {
  await expect(joinPostgres("/proc/stepwell/data")).rejects.toThrow(/is not writable/);
});

async function joinElsewhere() {
  const module = pathToFileURL(join(import.meta.dirname, "postgres.mjs")).href;
  const program = `
    import { joinPostgres } from ${JSON.stringify(module)};
    const { url, leave } = await joinPostgres(${JSON.stringify(folder)});
    process.stdout.write(url);
    process.stdin.once("data", async () => { await leave(); process.exit(); });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [url] = await once(child.stdout, "data");
  return {
    url: String(url),
    async end(how: "leave" | "kill") {
      if (how === "kill") child.kill("SIGKILL");
      else child.stdin.write("leave");
      await once(child, "exit");
    },
  };
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // The server is killed during the connection.
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
