import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { withLock } from "./support/lock.mjs";
import { prepareProject } from "./support/prepare-project.mjs";
import { isInUse } from "./support/processes.mjs";
import { DIST, fingerprint, ROOT, reportWait, SetupError, timed } from "./support/project.mjs";
import { runNode } from "./support/run-program.mjs";

/**
 * A build is in `dist/<fingerprint of its sources>/` and never changes once complete, so that a running server keeps its
 * own build during the next one:
 *
 *   serve.mjs, stepwell.mjs   the process and the command line, bundled; packages stay in node_modules
 *   isolated.mjs              the process that executes suspects
 *   next/                     the pages
 *   *.complete                marks that each of the two is complete
 *   in-use/                   one file per process that uses it (support/processes.mjs)
 *
 * `dist/current` links to the newest.
 */

const SOURCES = [
  "app",
  "server",
  "inngest",
  "public",
  "scripts",
  "prisma",
  "serve.ts",
  "serve",
  "instrumentation.ts",
  "process-services.ts",
  "wiring.ts",
  "next.config.ts",
  "postcss.config.mjs",
  "tsconfig.json",
  "package.json",
  "package-lock.json",
];
/** Parts of Next's working folder that are only for its next build and TypeScript. */
const NOT_SERVED = ["cache", "dev", "types", "lock", "trace", "trace-build", "diagnostics", "build"];

/** @typedef {{ folder: string, serve: string, stepwell: string, pages: string }} Build */

/** @returns {Build} */
function locateBuild() {
  const folder = join(DIST, fingerprint(SOURCES));
  return {
    folder,
    serve: join(folder, "serve.mjs"),
    stepwell: join(folder, "stepwell.mjs"),
    pages: join(folder, "next"),
  };
}

/**
 * Builds the missing parts for the current sources.
 * @param {{ pages?: boolean }} [options] `pages: false` for the command line, which needs none
 * @returns {Promise<Build>}
 */
export async function ensureBuild({ pages = true } = {}) {
  const build = locateBuild();
  const isReady = () => isComplete(build, "programs") && (!pages || isComplete(build, "pages"));
  if (isReady()) return build;
  mkdirSync(DIST, { recursive: true });
  const onWait = reportWait(() => "Another process is building");
  await withLock(
    join(DIST, "build.lock"),
    async () => {
      if (!isComplete(build, "programs")) await buildPrograms(build);
      if (isReady()) return;
      await timed("Building the pages", () => buildPages(build));
      link(build.folder, join(DIST, "current"));
      removeOldBuilds(build);
    },
    { onWait },
  );
  return build;
}

/** @typedef {"programs" | "pages"} Part */

/** @param {Build} build @param {Part} part */
const isComplete = ({ folder }, part) => existsSync(join(folder, `${part}.complete`));

/** @param {Pick<Build, "folder">} build @param {Part} part */
const markComplete = ({ folder }, part) => writeFileSync(join(folder, `${part}.complete`), "");

/**
 * The esbuild options of the programs, for builds and development.
 * @param {string} folder
 * @returns {import("esbuild").BuildOptions}
 */
export function programOptions(folder) {
  return {
    absWorkingDir: ROOT,
    entryPoints: { serve: "serve.ts", isolated: "serve/isolated.ts", stepwell: "scripts/cli/main.ts" },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "esm",
    packages: "external",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: "linked",
    logLevel: "silent",
  };
}

/**
 * The texts of prisma/functions/ by name. A build has its own, because a running server keeps its build during the next
 * one (server/base/db/functions.ts).
 * @returns {Record<string, string>}
 */
function readSqlFunctions() {
  const folder = join(ROOT, "prisma/functions");
  return Object.fromEntries(
    readdirSync(folder).map((file) => [basename(file, ".sql"), readFileSync(join(folder, file), "utf8")]),
  );
}

/** Bundles the programs into the build's folder. @param {Pick<Build, "folder">} build */
export async function buildPrograms(build) {
  const esbuild = await import("esbuild");
  try {
    const define = { SQL_FUNCTIONS: JSON.stringify(readSqlFunctions()) };
    await esbuild.build({ ...programOptions(build.folder), define });
  } catch (error) {
    throw new SetupError(`The build failed.\n${error instanceof Error ? error.message : error}`);
  } finally {
    // Otherwise its process stays as long as this one.
    await esbuild.stop();
  }
  markComplete(build, "programs");
}

/** @param {Build} build */
async function buildPages(build) {
  const { folder, pages } = build;
  const working = join(ROOT, ".next");
  for (const name of existsSync(working) ? readdirSync(working) : []) {
    if (!NOT_SERVED.includes(name)) rmSync(join(working, name), { recursive: true, force: true });
  }
  await runNode("next build", ["node_modules/next/dist/bin/next", "build"], {
    env: { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", STEPWELL_NEXT_DIR: undefined },
  });
  rmSync(pages, { recursive: true, force: true });
  mkdirSync(pages);
  // Next links external packages by relative paths, two folders up from its output.
  link(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const names = readdirSync(working).filter((name) => !NOT_SERVED.includes(name));
  for (const name of names) renameSync(join(working, name), join(pages, name));
  markComplete(build, "pages");
}

/** @param {Build} build */
function removeOldBuilds({ folder }) {
  for (const entry of readdirSync(DIST, { withFileTypes: true })) {
    const path = join(DIST, entry.name);
    if (!entry.isDirectory() || path === folder || !/^[0-9a-f]{16}$/.test(entry.name)) continue;
    if (!isInUse(join(path, "in-use"))) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Links a folder, in place of an earlier link. Relative, so that the project's folder can be moved.
 * @param {string} target
 * @param {string} path
 */
function link(target, path) {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  if (process.platform === "win32") symlinkSync(target, fresh, "junction");
  else symlinkSync(relative(dirname(path), target), fresh);
  renameSync(fresh, path);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await prepareProject();
  const { folder } = await ensureBuild();
  console.log(`Built: ${folder}`);
}
