import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DefinitionFileError, readDefinitionFile } from "@/server/catalog/definition-file/definition-file";
import {
  agentDefinition,
  apiKeyDefinition,
  memberDefinition,
  organizationDefinition,
  toolDefinition,
  triggerDefinition,
} from "@/server/catalog/definitions";
import { workflowStep } from "@/server/work/workflow/definition";
import { declareOrganization, SECRET } from "@/testing/definition-file";

const ACME = declareOrganization("acme")
  .replace("ada@", "Ada@")
  .replace("agent: helper\n", "agent: helper # or tool: weather\n");

async function issuesOf(source: string): Promise<string[]> {
  try {
    const { issues, reject } = await readDefinitionFile(source);
    return reject(issues).lines;
  } catch (error) {
    if (error instanceof DefinitionFileError) return error.lines;
    throw error;
  }
}

async function readAcme(source: string) {
  const { organizations, issues } = await readDefinitionFile(source);
  expect(issues).toEqual([]);
  const [acme] = organizations;
  if (acme === undefined) throw new Error("no organization");
  const { definition, ...lists } = acme;
  const entries = Object.entries(lists).map(([kind, list]) => [kind, list.map((entry) => entry.definition)]);
  return { ...definition, ...Object.fromEntries(entries) };
}

test("reads a complete file and adds defaults", async () => {
  const acme = await readAcme(ACME);
  expect(acme).toMatchObject({
    slug: "acme",
    credits: "1000",
    members: [{ email: "ada@acme.test", role: "owner" }],
    apiKeys: [{ name: "ci", scopes: ["runs:read", "runs:start"], expiresAt: null, maxCredits: null }],
    agents: [{ slug: "helper", maxSteps: 8, deadlineSeconds: 900, maxCredits: null }],
    triggers: [{ slug: "inbound", signature: "hex", rateLimit: { requests: 30, seconds: 60 } }],
  });
  expect(acme.tools).toMatchObject([{ steps: [{ uses: "http_request" }, { uses: "transform_json" }] }]);
});

test("accepts every optional field", async () => {
  const source = ACME.replace(
    "apiKeys: [{ name: ci }]",
    "apiKeys: [{ name: ci, scopes: [runs:read], expiresAt: 2027-01-31T00:00:00+01:00, agents: [helper], maxCredits: 0.5 }]",
  )
    .replace(
      `secret: ${SECRET}`,
      "secret: whsec_aGVsbG8=\n        signature: standard-webhooks\n        messageTemplate: 'New: {{ body }}'\n        maxCredits: 2\n        status: inactive",
    )
    .replace("maxSteps: 8", "maxSteps: 12\n        maxCredits: '1.25'\n        deadlineSeconds: 60");
  const acme = await readAcme(source);
  expect(acme.apiKeys[0]).toMatchObject({ expiresAt: "2027-01-30T23:00:00.000Z", maxCredits: "0.5" });
  expect(acme.agents[0]).toMatchObject({ maxCredits: "1.25", deadlineSeconds: 60 });
  expect(acme.triggers[0]).toMatchObject({ signature: "standard-webhooks", status: "inactive" });
});

test("accepts the signatures and filters in the guide of senders", async () => {
  const page = await readFile("docs/senders.md", "utf8");
  const samples = [...page.matchAll(/^```yaml\n((?:signature|filter):[\s\S]*?)^```$/gm)];
  expect(samples).toHaveLength(2);
  for (const [, sample = ""] of samples) {
    const lines = sample.trimEnd().replaceAll("\n", "\n        ");
    const acme = await readAcme(ACME.replace(`secret: ${SECRET}`, `secret: ${SECRET}\n        ${lines}`));
    const { signature, filter } = acme.triggers[0];
    expect(filter ?? signature.custom.header).toMatch(/^(X-Acme-Signature|body\.action = .*)$/);
  }
});

test("accepts anchors and aliases", async () => {
  const source = ACME.replace("apiKeys:", "# x\n    apiKeys:")
    .replace("parameters: {", "parameters: &schema {")
    .replace(/outputSchema: .*/, "outputSchema: *schema");
  const { tools } = await readAcme(source);
  expect(tools[0].outputSchema).toEqual(tools[0].parameters);
});

test.each<[string, string | RegExp, string, string]>([
  [
    "a number too large",
    "maxSteps: 8",
    "maxSteps: 13",
    "organizations[0].agents[0].maxSteps (line 27) must be at most 12",
  ],
  [
    "a fraction",
    "maxSteps: 8",
    "maxSteps: 2.5",
    "organizations[0].agents[0].maxSteps (line 27) must be a whole number",
  ],
  [
    "a text for a number",
    "maxSteps: 8",
    "maxSteps: many",
    "organizations[0].agents[0].maxSteps (line 27) must be a number",
  ],
  [
    "a missing field",
    "model: gpt-5-mini",
    "systemPrompt2: x",
    "organizations[0].agents[0].model (line 23) is required",
  ],
  [
    "an unknown field",
    "model: gpt-5-mini",
    "model: gpt-5-mini\n        modle: x",
    "organizations[0].agents[0].modle (line 26) is not known here",
  ],
  [
    "an unknown field at the top",
    /^organizations:/,
    "version: 1\norganizations:",
    "version (line 1) is not known here",
  ],
  [
    "an empty model",
    "model: gpt-5-mini",
    "model: ''",
    "organizations[0].agents[0].model (line 25) must not be empty",
  ],
  [
    "another status",
    "status: active",
    "status: paused",
    "organizations[0].agents[0].status (line 28) must be active or inactive",
  ],
  [
    "a slug with capitals",
    "slug: helper",
    "slug: Helper",
    "organizations[0].agents[0].slug (line 23) must be 1 to 64 of a-z, 0-9 and -, not starting or ending with -",
  ],
  ["a numeric slug", "slug: helper", "slug: 12", "organizations[0].agents[0].slug (line 23) must be a text"],
  [
    "a function twice",
    "[calculate, current_time]",
    "[calculate, calculate]",
    "organizations[0].agents[0].functions (line 29) must not contain duplicates",
  ],
  [
    "negative credits",
    "credits: 1000",
    "credits: -1",
    "organizations[0].credits (line 5) must be a number from 0 to 9999999999 with at most four decimal places",
  ],
  [
    "too fine credits",
    "credits: 1000",
    "credits: 0.00001",
    "organizations[0].credits (line 5) must be a number from 0 to 9999999999 with at most four decimal places",
  ],
  [
    "credits of no number",
    "credits: 1000",
    "credits: []",
    "organizations[0].credits (line 5) must be a number",
  ],
  ["no email", "Ada@acme.test", "ada", "organizations[0].members[0].email (line 6) must be an email address"],
  [
    "an unknown role",
    "role: owner",
    "role: king",
    "organizations[0].members[0].role (line 6) must be viewer or member or admin or owner",
  ],
  [
    "an unknown scope",
    "{ name: ci }",
    "{ name: ci, scopes: [all] }",
    "organizations[0].apiKeys[0].scopes[0] (line 7) must be runs:read or runs:start",
  ],
  [
    "a date without time",
    "{ name: ci }",
    "{ name: ci, expiresAt: 2027-01-31 }",
    "organizations[0].apiKeys[0].expiresAt (line 7) must be a time such as 2027-01-31T00:00:00Z",
  ],
  [
    "two keys of a name",
    "[{ name: ci }]",
    "[{ name: ci }, { name: ci }]",
    'organizations[0].apiKeys[1].name (line 7) "ci" is already entry 1 of this list',
  ],
  [
    "two targets",
    "agent: helper ",
    "tool: weather\n        agent: helper ",
    "organizations[0].triggers[0] (line 32) must name either an agent or a tool",
  ],
  [
    "no target",
    /agent: helper .*/,
    "name: In",
    "organizations[0].triggers[0] (line 32) must name either an agent or a tool",
  ],
  [
    "a template for a tool",
    /agent: helper .*/,
    "tool: weather\n        messageTemplate: x",
    "organizations[0].triggers[0].messageTemplate (line 34) is for triggers of agents; a tool's input is the body",
  ],
  [
    "an empty secret",
    `secret: ${SECRET}`,
    "secret: ''",
    "organizations[0].triggers[0].secret (line 34) must not be empty; leave it out, or write null for none",
  ],
  [
    "a rate of nothing",
    "requests: 30",
    "requests: 0",
    "organizations[0].triggers[0].rateLimit.requests (line 35) must be at least 1",
  ],
  [
    "no steps",
    /steps:\n[\s\S]*?output:/,
    "steps: []\n        output:",
    "organizations[0].tools[0].steps (line 13) must have at least 1 item",
  ],
  [
    "an odd step id",
    "id: fetch",
    "id: 1fetch",
    "organizations[0].tools[0].steps[0].id (line 14) letters, digits and _, not starting with a digit",
  ],
  [
    "steps in a mapping",
    /steps:\n[\s\S]*?output:/,
    "steps: {}\n        output:",
    "organizations[0].tools[0].steps (line 13) must be a list",
  ],
  [
    "U+0000 in a prompt",
    "You help.",
    '"You\\0help."',
    "organizations[0].agents[0].systemPrompt (line 26) must not contain U+0000",
  ],
])("%s is rejected with its path", async (_what, from, to, issue) => {
  const source = ACME.replace(from, to);
  expect(source).not.toBe(ACME);
  expect((await issuesOf(source)).join("\n")).toContain(issue);
});

test.each<[string, string, string]>([
  ["nothing", "", "the file must be a mapping"],
  ["a list", "- a", "the file (line 1) must be a mapping"],
  ["no organizations", "{}", "organizations (line 1) is required"],
  ["an empty list", "organizations: []", "organizations (line 1) must have at least 1 item"],
  [
    "broken YAML",
    "organizations: [",
    "line 1, column 17: Flow sequence in block collection must be sufficiently indented and end with a ].",
  ],
  ["a tab", "\torganizations: []", "line 1, column 1: Tabs are not allowed as indentation."],
  [
    "a key twice",
    "organizations: []\norganizations: []",
    'line 2, column 1: The key "organizations" appears twice.',
  ],
  [
    "two documents",
    "a: 1\n---\nb: 2",
    "line 2, column 1: The text has several documents, but only one is allowed.",
  ],
  ["an unknown alias", "organizations: *nothing", "line 1, column 16: There is no &nothing before *nothing."],
  [
    "an unknown tag",
    "organizations: !!js/function 'x'",
    "line 1, column 16: Unresolved tag: tag:yaml.org,2002:js/function.",
  ],
  ["binary", "organizations: !!binary aGk=", "line 1, column 25: JSON cannot represent this type of value."],
  ["infinity", "organizations: .inf", "line 1, column 16: JSON cannot represent this number."],
  ["a circle", "organizations: &a [*a]", "line 1, column 20: The document nests deeper than 100 levels."],
  [
    "depth",
    `organizations: ${"[".repeat(101)}${"]".repeat(101)}`,
    "line 1, column 116: The document nests deeper than 100 levels.",
  ],
  [
    "a stack of brackets",
    "[".repeat(100_000),
    "line 1, column 211: The document nests deeper than 100 levels.",
  ],
  ["bytes", `# ${"x".repeat(4 * 1024 * 1024)}`, "The file has more than 4 MiB."],
])("%s is rejected", async (_what, source, issue) => {
  expect((await issuesOf(source)).join("\n")).toContain(issue);
});

test("an alias bomb is rejected quickly", async () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"];
  for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"].map((pair) => [...pair])) {
    bomb.push(`${to}: &${to} [${`*${from},`.repeat(9)}]`);
  }
  expect(await issuesOf(bomb.join("\n"))).toEqual([
    "line 2, column 8: Excessive alias count indicates a resource exhaustion attack.",
  ]);
});

test("reports all errors at once, in the order of the file", async () => {
  const several = ACME.replace("maxSteps: 8", "maxSteps: 13")
    .replace("credits: 1000", "credits: x")
    .replace("[{ name: ci }]", "[{ name: ci }, { name: ci, agents: 1 }]")
    .replace(/agent: helper .*/, "rateLimit2: x")
    .replace("rateLimit:", "name: 1\n        rateLimit:")
    .replace("uses: http_request", "parallel: []\n            uses: http_request");
  expect((await issuesOf(several)).map((line) => line.replace(/^organizations\[0\]\./, ""))).toEqual([
    "credits (line 5) must be a number from 0 to 9999999999 with at most four decimal places",
    "apiKeys[1].agents (line 7) must be a list",
    'apiKeys[1].name (line 7) "ci" is already entry 1 of this list',
    "tools[0].steps[0].parallel (line 15) must have at least 1 item",
    "tools[0].steps[0].uses (line 16) is not allowed beside parallel",
    "tools[0].steps[0].with (line 17) is not allowed beside parallel",
    "agents[0].maxSteps (line 28) must be at most 12",
    "triggers[0] (line 33) must name either an agent or a tool",
    "triggers[0].rateLimit2 (line 34) is not known here; known fields: slug, name, agent, tool, status, secret, " +
      "signature, rateLimit, messageTemplate, filter, maxCredits",
    "triggers[0].name (line 36) must be a text",
  ]);
});

test("every field is described in docs/definition-files.md", async () => {
  const guide = await readFile(join(import.meta.dirname, "../../../docs/definition-files.md"), "utf8");
  const shapes = [
    organizationDefinition,
    organizationDefinition.shape.plan.unwrap(),
    memberDefinition,
    apiKeyDefinition,
    toolDefinition,
    agentDefinition,
    triggerDefinition,
    workflowStep,
  ];
  const fields = new Set(shapes.flatMap(({ shape }) => Object.keys(shape)));
  expect([...fields].filter((field) => !guide.includes(`\`${field}\``))).toEqual([]);
});
