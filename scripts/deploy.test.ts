import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { SOURCES } from "./package.mjs";

/** The files of deployments name only what exists. */

const ROOT = join(import.meta.dirname, "..");
const readText = (path: string) => readFileSync(join(ROOT, path), "utf8");
const SETTINGS = [...readText(".env.example").matchAll(/^([A-Z_]+)=/gm)].map(([, name = ""]) => name);
/** Of Node, and of the program that starts the package. */
const OTHERS = ["NODE_ENV", "NODE_OPTIONS", "STEPWELL_ENV_FILE"];

const TEMPLATES = readdirSync(join(ROOT, "deploy/helm/stepwell/templates")).map((name) =>
  readText(`deploy/helm/stepwell/templates/${name}`),
);

const compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      command: z.array(z.string()).default([]),
      environment: z.record(z.string(), z.string()).default({}),
      env_file: z.array(z.object({ path: z.string(), required: z.boolean() })).default([]),
      ports: z.array(z.string()).default([]),
      profiles: z.array(z.string()).default([]),
      read_only: z.boolean().default(false),
    }),
  ),
});

function namesIn(texts: readonly string[], pattern: RegExp): string[] {
  return texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = ""]) => name));
}

test("deployments set only settings that exist", () => {
  const { services } = compose.parse(parse(readText("compose.yaml")));
  const set = [
    ...Object.keys(services.stepwell?.environment ?? {}),
    ...namesIn(TEMPLATES, /- (?:\{ )?name: ([A-Z_]{3,})/g),
    ...namesIn([readText("deploy/systemd/stepwell.service")], /\b([A-Z_]{3,})=/g),
    ...namesIn([readText("Dockerfile")], /(?:ENV | )([A-Z_]{3,})=/g).filter((name) =>
      name.startsWith("STEPWELL_"),
    ),
    ...namesIn([readText("docs/deploy.md")], /^([A-Z_]{3,})=/gm),
  ];
  expect(set.length).toBeGreaterThan(30);
  const known = [...SETTINGS, ...OTHERS, "POSTGRES_PASSWORD"];
  expect(set.filter((name) => !known.includes(name))).toEqual([]);
});

test("Compose passes all of .env except what the container determines", () => {
  const { services } = compose.parse(parse(readText("compose.yaml")));
  const { env_file, environment = {}, read_only } = services.stepwell ?? {};
  expect(env_file).toEqual([{ path: ".env", required: false }]);
  expect(environment).toMatchObject({ PORT: "3000", HOST: "0.0.0.0", STEPWELL_DATA_DIR: "/data" });
  // The container's own PORT is not the published one.
  expect(environment.APP_URL).toContain(services.stepwell?.ports[0]?.split(":3000")[0]);
  // Another name that is set here would overrule the one in .env.
  const other = Object.entries(environment).filter(([name, value]) => !value.startsWith(`\${${name}:`));
  expect(other.map(([name]) => name)).toEqual(["PORT", "HOST", "STEPWELL_DATA_DIR", "DATABASE_URL"]);
  expect(read_only).toBe(true);
});

test("Compose starts Inngest only with its profile", () => {
  const { services } = compose.parse(parse(readText("compose.yaml")));
  for (const [name, { profiles }] of Object.entries(services))
    expect(profiles, name).toEqual(name.startsWith("inngest") ? ["inngest"] : []);
});

test("Compose passes no secret as an argument, which everyone on the machine could read", () => {
  const { services } = compose.parse(parse(readText("compose.yaml")));
  const words = Object.values(services).flatMap(({ command }) => command);
  expect(words).toContain("--no-ui");
  expect(words.filter((word) => word.includes("$"))).toEqual([]);
});

test("image, unit and the program of the package run Node with the flags of npm start", () => {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readText("package.json")));
  const flagsIn = (text = "") => text.match(/--[a-z][a-z-]*(=\d+)?/g);
  const flags = flagsIn(scripts.start);
  expect(flags).toContain("--max-semi-space-size=16");
  const [entry] = readText("Dockerfile").match(/^ENTRYPOINT.*$/m) ?? [];
  const [unit] = readText("deploy/systemd/stepwell.service").match(/^ExecStart=.*$/m) ?? [];
  const [, shell] = readText("scripts/package/stepwell.mjs").split("\n");
  for (const line of [entry, unit, shell]) expect(flagsIn(line)).toEqual(flags);
  // With `node`, the program would run without them.
  for (const page of ["scripts/package/README.md", "docs/deploy.md"])
    expect(readText(page)).not.toMatch(/node \S*stepwell\.mjs start/);
});

const PODS = TEMPLATES.filter((template) => /^ +containers:$/m.test(template));

const schema = z
  .record(z.string(), z.unknown())
  .parse(JSON.parse(readText("deploy/helm/stepwell/values.schema.json")));
const isValid = new Ajv({ strict: false }).compile(schema);
const appUrl = "https://stepwell.example.com";
const VALUES = z.record(z.string(), z.unknown()).parse(parse(readText("deploy/helm/stepwell/values.yaml")));
const scaledAt = (cpuPercent: number) => ({
  replicas: 2,
  resources: {},
  heapMiB: 512,
  autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 6, cpuPercent },
});

test.each([
  ["as it is", {}, true],
  [
    "with providers and prices as YAML",
    { modelProviders: [{ name: "acme" }], priceList: { models: [] } },
    true,
  ],
  ["with providers as text", { modelProviders: "- name: acme" }, true],
  ["scaled above the requested CPU", { web: scaledAt(300) }, true],
  ["with a misspelled name", { modelProvider: "" }, false],
  ["with a misspelled name in a part", { image: { repo: "stepwell" } }, false],
  ["with a variable of the chart", { env: { PORT: "3000" } }, false],
] as const)("the chart's schema judges values.yaml %s", (_, changes, expected) => {
  expect(isValid({ ...VALUES, appUrl, ...changes }), JSON.stringify(isValid.errors)).toBe(expected);
});

test("pods get no variables of services: those of a release called stepwell look like settings", () => {
  expect(PODS).toHaveLength(2);
  for (const pod of PODS) expect(pod).toMatch(/^ {6}enableServiceLinks: false$/m);
});

test("the migration is scheduled as the other pods are, and gets their settings and secrets", () => {
  for (const pod of PODS)
    for (const part of ["env", "envFrom", "scheduling"]) expect(pod).toContain(`include "stepwell.${part}" `);
});

test("image, chart and unit have the health endpoints, the version and the program of the package", () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readText("package.json")));
  const chart = z.object({ version: z.string(), appVersion: z.string() });
  const versions = chart.parse(parse(readText("deploy/helm/stepwell/Chart.yaml")));
  expect(versions).toEqual({ version, appVersion: version });
  const image = readText("Dockerfile");
  expect(image).toContain("/api/health");
  expect(image).toMatch(/^USER \d+:\d+$/m);
  expect(image).toContain(`node:${readText(".nvmrc").trim()}-`);
  for (const text of [image, readText("deploy/systemd/stepwell.service")])
    expect(text).toContain("/opt/stepwell/bin/stepwell.mjs");
});

/** Returns true if .dockerignore keeps the path out of the image's build; the last pattern that matches decides. */
function isIgnoredByDocker(path: string): boolean {
  let ignored = false;
  for (const line of readText(".dockerignore")
    .split("\n")
    .filter((text) => text && !text.startsWith("#"))) {
    const pattern = line.replace(/^!/, "").replaceAll(".", "\\.").replaceAll("*", "[^/]*");
    if (new RegExp(`^${pattern}(/|$)`).test(path)) ignored = !line.startsWith("!");
  }
  return ignored;
}

test("the image's build gets the files that the package contains, and no settings or build", () => {
  expect(SOURCES.filter(isIgnoredByDocker)).toEqual([]);
  const kept = [".env", ".git", "node_modules", "dist", "deploy/helm"].filter(
    (path) => !isIgnoredByDocker(path),
  );
  expect(kept).toEqual([]);
});
