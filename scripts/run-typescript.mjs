import { join, parse } from "node:path";
import { pathToFileURL } from "node:url";
import { programOptions } from "./build.mjs";
import { prepareProject } from "./support/prepare-project.mjs";
import { DIST } from "./support/project.mjs";

/** `node scripts/run-typescript.mjs FILE.ts [options]`: runs a contributor's program, such as a benchmark. */
const [file = ""] = process.argv.splice(2, 1);
await prepareProject();
const folder = join(DIST, "programs");
const { build, stop } = await import("esbuild");
await build({ ...programOptions(folder), entryPoints: [file], splitting: false, logLevel: "warning" });
await stop();
process.setSourceMapsEnabled(true);
await import(pathToFileURL(join(folder, `${parse(file).name}.mjs`)).href);
