// @module-tag once
import { verifyPassword } from "better-auth/crypto";
import { expect, test } from "vitest";
import { KEY_SCOPES } from "@/server/base/actor";
import { sha256 } from "@/server/base/sha256";
import { hashApiKey } from "@/server/catalog/auth/api-key";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { DefinitionFileError } from "@/server/catalog/definition-file/definition-file";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { createApiKey } from "@/server/catalog/organization/api-keys";
import { grantToOrganization, operatorOf } from "@/server/catalog/organization/organizations";
import { signingSecretPurpose } from "@/server/catalog/webhooks/trigger";
import { declareOrganization, PASSWORD, SECRET } from "@/testing/definition-file";
import { openWorld } from "@/testing/world";

const catalog = await openWorld({ env: { APP_URL: "https://stepwell.test/" } });

async function applyOne(source: string) {
  const [applied] = await applyDefinitionFile(catalog, source);
  if (!applied) throw new Error("nothing was applied");
  return applied;
}

async function issuesOf(source: string): Promise<string[]> {
  const error: unknown = await applyDefinitionFile(catalog, source).then(
    () => null,
    (issue: unknown) => issue,
  );
  if (error instanceof DefinitionFileError) return error.lines;
  throw new Error("the file was applied", { cause: error });
}

function savedOf(applied: Awaited<ReturnType<typeof applyOne>>): string[] {
  const { saved, members, apiKeys, tools, agents, triggers } = applied;
  return [
    saved,
    ...[members, apiKeys, tools, agents, triggers].flatMap((list) => list.map((item) => item.saved)),
  ];
}

async function everything(orgId: string) {
  const { db } = catalog;
  const where = { organizationId: orgId };
  return {
    organization: await db.organization.findUnique({ where: { id: orgId }, include: { plan: true } }),
    members: await db.member.findMany({ where, include: { user: { include: { accounts: true } } } }),
    keys: await db.apiKey.findMany({ where }),
    tools: await db.tool.findMany({ where, include: { versions: true } }),
    agents: await db.agent.findMany({ where, include: { versions: true } }),
    triggers: await db.trigger.findMany({ where, include: { secrets: true } }),
    entries: await db.creditEntry.findMany({ where }),
    audit: await db.auditEntry.findMany({ where, orderBy: { id: "asc" } }),
  };
}

test("a file creates everything it declares", async () => {
  const applied = await applyOne(declareOrganization("acme"));
  expect(new Set(savedOf(applied))).toEqual(new Set(["created"]));
  const { organization, members, keys, tools, agents, triggers, entries } = await everything(applied.id);

  expect(organization?.balance.toFixed()).toBe("1000");
  expect(entries.map(({ kind, amount, actor }) => [kind, amount.toFixed(), actor])).toEqual([
    ["grant", "1000", "operator"],
  ]);
  const [account] = members[0]?.user.accounts ?? [];
  expect(members[0]).toMatchObject({ role: "owner", user: { email: "ada@acme.test", name: "ada" } });
  expect(await verifyPassword({ hash: account?.password ?? "", password: PASSWORD })).toBe(true);

  const [key] = applied.apiKeys;
  expect(hashApiKey(key?.key ?? "")?.equals(keys[0]?.hash ?? Buffer.alloc(0))).toBe(true);
  expect(tools[0]?.versions).toHaveLength(1);
  expect(JSON.parse(agents[0]?.versions[0]?.definition ?? "")).toMatchObject({
    tools: [tools[0]?.slug],
    functions: ["calculate", "current_time"],
  });

  const [trigger] = applied.triggers;
  expect(trigger?.url).toBe(`https://stepwell.test/webhooks/${trigger?.token}`);
  expect(sha256(trigger?.token ?? "").equals(triggers[0]?.tokenHash ?? Buffer.alloc(0))).toBe(true);
  expect(triggers[0]?.agentId).toBe(agents[0]?.id);
  const [secret] = triggers[0]?.secrets ?? [];
  expect(catalog.encryption.open(secret?.sealed ?? "", signingSecretPurpose(triggers[0]?.id ?? ""))).toBe(
    SECRET,
  );
});

test("applied again, it changes nothing and returns the same ids and token, without the key", async () => {
  const first = await applyOne(declareOrganization("again"));
  const before = await everything(first.id);
  catalog.clock.advance(60_000);
  const second = await applyOne(declareOrganization("again"));
  expect(new Set(savedOf(second))).toEqual(new Set(["unchanged"]));
  expect(second.triggers.map(({ id, token, url }) => ({ id, token, url }))).toEqual(
    first.triggers.map(({ id, token, url }) => ({ id, token, url })),
  );
  expect(second.agents[0]?.id).toBe(first.agents[0]?.id);
  expect(second.apiKeys[0]).not.toHaveProperty("key");
  expect(await everything(first.id)).toEqual(before);
});

test("a new name makes no version, new content makes one, earlier versions stay", async () => {
  const first = await applyOne(declareOrganization("versions"));
  const renamed = declareOrganization("versions")
    .replace("name: Helper", "name: Assistant")
    .replace("name: Weather", "name: Sky");
  const second = await applyOne(renamed);
  expect([second.agents[0]?.saved, second.agents[0]?.version]).toEqual(["updated", 1]);
  expect([second.tools[0]?.saved, second.tools[0]?.version]).toEqual(["updated", 1]);

  const rewritten = renamed
    .replace("You help.", "You help a lot.")
    .replace("id: brief", "id: summary")
    .replace("steps.brief", "steps.summary");
  const third = await applyOne(rewritten);
  expect([third.agents[0]?.id, third.agents[0]?.version]).toEqual([first.agents[0]?.id, 2]);
  expect([third.tools[0]?.id, third.tools[0]?.version]).toEqual([first.tools[0]?.id, 2]);
  const { agents, audit } = await everything(first.id);
  expect(agents[0]).toMatchObject({ name: "Assistant", version: 2 });
  const prompts = agents[0]?.versions.map(({ number, definition }) => [
    number,
    JSON.parse(definition).systemPrompt,
  ]);
  expect(prompts?.sort()).toEqual([
    [1, "You help."],
    [2, "You help a lot."],
  ]);
  const changes = audit
    .filter(({ action }) => action === "agent.updated")
    .map((entry) => JSON.parse(entry.changes));
  expect(changes).toEqual([
    { name: { from: "Helper", to: "Assistant" } },
    { systemPrompt: { from: "You help.", to: "You help a lot." } },
  ]);
});

test("credits are granted once; plan and limits follow the file", async () => {
  const first = await applyOne(declareOrganization("plans"));
  const changed = declareOrganization("plans")
    .replace("credits: 1000", "credits: 5000")
    .replace("plan: { apiAccess: true, startsPerMinute: 100,", "plan: { apiAccess: false,");
  const second = await applyOne(changed);
  expect(second.saved).toBe("updated");
  const { organization } = await everything(first.id);
  expect(organization?.balance.toFixed()).toBe("1000");
  expect(organization?.plan).toMatchObject({ apiAccess: false, startsPerMinute: 100, retentionDays: 30 });
});

test("only credits of the creation are exported", async () => {
  const { id } = await applyOne(declareOrganization("uncredited").replace("    credits: 1000\n", ""));
  const operator = await operatorOf(catalog, "uncredited");
  await grantToOrganization(catalog, operator, { amount: 7, note: "Welcome" });
  expect((await everything(id)).entries).toMatchObject([{ sequence: 1n, kind: "grant" }]);
  expect(await exportOrganization(catalog, operator)).not.toContain("credits: 7");
});

test("expired keys are not exported, because a new installation rejects them", async () => {
  await applyOne(declareOrganization("expiring"));
  const operator = await operatorOf(catalog, "expiring");
  const expiresAt = new Date(catalog.clock.now().getTime() + 1000).toISOString();
  const key = (name: string) => createApiKey(catalog, operator, { name, expiresAt });
  await key("short");
  expect(await exportOrganization(catalog, operator)).toContain("name: short");
  catalog.clock.advance(2000);
  expect(await exportOrganization(catalog, operator)).not.toContain("name: short");
});

test("a file names a new owner after or before the earlier one", async () => {
  const member = (name: string, role: string) =>
    `{ email: ${name}@owners.test, password: "${PASSWORD}", role: ${role} }`;
  const file = (...members: string[]) =>
    `organizations: [{ slug: owners, plan: {}, members: [${members.join(", ")}] }]`;
  await applyOne(file(member("ada", "owner")));
  const changed = await applyOne(file(member("ada", "member"), member("bob", "owner")));
  expect(changed.members.map(({ role, saved }) => `${role} ${saved}`)).toEqual([
    "owner created",
    "member updated",
  ]);
  const unknown = (name: string, role: string) => member(name, role).replace(/password: [^,]*,/, "");
  const issues = await issuesOf(file(unknown("cyd", "member"), unknown("dan", "owner")));
  expect(issues.toSorted()).toEqual([
    expect.stringContaining("members[0].password"),
    expect.stringContaining("members[1].password"),
  ]);
});

test("a plan's rates are any positive number or unlimited, and exported as declared", async () => {
  const plan = (rates: string) =>
    declareOrganization("rates").replace("startsPerMinute: 100, readsPerMinute: 600", rates);
  const { id } = await applyOne(plan("startsPerMinute: unlimited, readsPerMinute: 2000000000"));
  const { organization } = await everything(id);
  expect(organization?.plan).toMatchObject({ startsPerMinute: null, readsPerMinute: 2_000_000_000 });
  const exported = await exportOrganization(catalog, await operatorOf(catalog, "rates"));
  expect(exported).toContain("startsPerMinute: unlimited");
  expect((await applyDefinitionFile(catalog, exported))[0]?.saved).toBe("unchanged");

  // Texts of the same amount.
  for (const [credits, saved] of [
    ["'10.50'", "updated"],
    ["'010.5'", "unchanged"],
    ["'10.5000'", "unchanged"],
    ["'0100.00'", "updated"],
    ["100", "unchanged"],
    ["10.5", "updated"],
    ["10.5", "unchanged"],
  ])
    expect((await applyOne(plan(`monthlyCredits: ${credits}`))).saved).toBe(saved);

  const numbered = await applyOne(plan("startsPerMinute: 5, readsPerMinute: 2000000000"));
  expect(numbered.saved).toBe("updated");
  for (const wrong of ["0", "-1", "1.5", "endless", "3000000000"]) {
    await expect(applyOne(plan(`startsPerMinute: ${wrong}, readsPerMinute: 1`))).rejects.toThrow(
      /plan\.startsPerMinute \(line 4\) must be/,
    );
  }
  await expect(
    catalog.db.plan.update({ where: { organizationId: id }, data: { readsPerMinute: 0 } }),
  ).rejects.toThrow("plans_ranges");
});

test("an omitted secret stays, another one replaces it, null removes it", async () => {
  const secretsOf = async (source: string) => {
    const applied = await applyOne(source);
    const { triggers } = await everything(applied.id);
    const [trigger] = triggers;
    const opened = trigger?.secrets.map(({ sealed }) =>
      catalog.encryption.open(sealed, signingSecretPurpose(trigger.id)),
    );
    return { saved: applied.triggers[0]?.saved, opened };
  };
  const source = declareOrganization("secrets");
  const line = `        secret: ${SECRET}\n`;
  expect(await secretsOf(source)).toEqual({ saved: "created", opened: [SECRET] });
  expect(await secretsOf(source.replace(line, ""))).toEqual({ saved: "unchanged", opened: [SECRET] });
  expect(await secretsOf(source.replace(SECRET, "other"))).toEqual({ saved: "updated", opened: ["other"] });
  expect(await secretsOf(source.replace(SECRET, "null"))).toEqual({ saved: "updated", opened: [] });
  expect(await secretsOf(source.replace(SECRET, "null"))).toEqual({ saved: "unchanged", opened: [] });
});

test("a revoked key stays revoked: its name gets a new key", async () => {
  const first = await applyOne(declareOrganization("revoked"));
  await catalog.db.apiKey.updateMany({
    where: { organizationId: first.id },
    data: { revokedAt: new Date() },
  });
  const second = await applyOne(declareOrganization("revoked"));
  expect(second.apiKeys[0]?.saved).toBe("created");
  expect(second.apiKeys[0]?.key).not.toBe(first.apiKeys[0]?.key);
  expect((await everything(first.id)).keys).toHaveLength(2);
});

test("a deleted agent is restored under its slug, a deleted trigger with a new token", async () => {
  const first = await applyOne(declareOrganization("restored"));
  const deletedAt = catalog.clock.now();
  await catalog.db.agent.updateMany({ where: { organizationId: first.id }, data: { deletedAt } });
  await catalog.db.trigger.updateMany({ where: { organizationId: first.id }, data: { deletedAt } });
  const second = await applyOne(declareOrganization("restored"));
  expect([second.agents[0]?.saved, second.agents[0]?.id]).toEqual(["restored", first.agents[0]?.id]);
  expect([second.triggers[0]?.saved, second.triggers[0]?.id]).toEqual(["restored", first.triggers[0]?.id]);
  expect(second.triggers[0]?.token).not.toBe(first.triggers[0]?.token);
});

test("an export changes nothing when applied, and contains no secret", async () => {
  const source = declareOrganization("exported")
    .replace("maxSteps: 8", "maxSteps: 3\n        maxCredits: 0.5\n        deadlineSeconds: 60")
    .replace(
      "apiKeys: [{ name: ci }]",
      "apiKeys: [{ name: ci, scopes: [runs:read], agents: [helper], maxCredits: 2 }]",
    )
    .replace(
      "tools: [weather]\n",
      `tools: [weather]
        outputSchema: { type: object, properties: { answer: { type: string } }, required: [answer] }
        policies: { weather: { maxCalls: 3, retries: 1, onError: fail }, calculate: { maxCalls: 10 } }
`,
    )
    .replace(
      `secret: ${SECRET}`,
      `secret: ${SECRET}\n        messageTemplate: "New:\\n{{ body }}"\n        status: inactive`,
    );
  const applied = await applyOne(source);
  const exported = await exportOrganization(catalog, await operatorOf(catalog, "exported"));
  expect(new Set(savedOf(await applyOne(exported)))).toEqual(new Set(["unchanged"]));
  expect(exported).toContain("credits: 1000");
  expect(exported).toMatch(/policies:\s+weather:\s+maxCalls: 3\s+retries: 1\s+onError: fail/);
  for (const secret of [
    PASSWORD,
    SECRET,
    applied.triggers[0]?.token ?? "?",
    applied.apiKeys[0]?.key ?? "?",
  ]) {
    expect(exported).not.toContain(secret);
  }
  const elsewhere = exported
    .replace("slug: exported", "slug: copied")
    .replace("role: owner", `role: owner\n        password: ${PASSWORD}`);
  expect(new Set(savedOf(await applyOne(elsewhere)))).toEqual(new Set(["created"]));
  const copy = await exportOrganization(catalog, await operatorOf(catalog, "copied"));
  // Signing secrets are not exported, so the copy has none.
  expect(copy.replace("slug: copied", "slug: exported")).toBe(
    exported.replace(/ *# a secret is set.*\n/, ""),
  );
});

test("no secret reaches the audit log, the log or a plain-text column", async () => {
  const applied = await applyOne(declareOrganization("quiet"));
  await applyOne(declareOrganization("quiet").replace(SECRET, `${SECRET}-2`));
  const rows = JSON.stringify(await everything(applied.id), (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  const log = JSON.stringify(catalog.log.entries);
  for (const secret of [
    PASSWORD,
    SECRET,
    applied.triggers[0]?.token ?? "?",
    applied.apiKeys[0]?.key ?? "?",
  ]) {
    expect(rows).not.toContain(secret);
    expect(log).not.toContain(secret);
  }
  const { audit } = await everything(applied.id);
  expect(audit.map(({ action }) => action).sort()).toEqual([
    "agent.created",
    "api_key.created",
    "member.created",
    "organization.created",
    "tool.created",
    "trigger.created",
    "trigger.updated",
  ]);
});

test.each<[string, (source: string) => string, string[]]>([
  [
    "an unknown function",
    (s) => s.replace("[calculate, current_time]", "[calculate, fly]"),
    ['organizations[0].agents[0].functions[1] (line 29) "fly" is not a function. Known functions: '],
  ],
  [
    "unknown tools, one with a name that no tool can have",
    (s) => s.replace("tools: [weather]", "tools: [sky, My Sky]"),
    [
      'organizations[0].agents[0].tools[0] (line 30) "sky" is not a tool of the organization. Known tools: weather',
      'organizations[0].agents[0].tools[1] (line 30) "My Sky" is not a tool of the organization. Known tools: weather',
    ],
  ],
  [
    "an unknown target",
    (s) => s.replace("agent: helper", "agent: nobody"),
    [
      'organizations[0].triggers[0].agent (line 33) "nobody" is not an agent of the organization. Known agents: helper',
    ],
  ],
  [
    "a tool named like a function",
    (s) =>
      s.replace("slug: weather", "slug: current-time").replace("tools: [weather]", "tools: [current-time]"),
    [
      'organizations[0].agents[0].tools[0] (line 30) "current-time" would have the same name for the model as the function current_time',
    ],
  ],
  [
    "a step with an unknown function, and no word of the agent that uses the tool",
    (s) => s.replace("uses: transform_json", "uses: transform_yaml"),
    ["organizations[0].tools[0].steps[1].uses (line 18) "],
  ],
  [
    "a broken expression",
    (s) => s.replace("{{ steps.brief }}", "{{ steps. }}"),
    ["organizations[0].tools[0].output (line 20) "],
  ],
  [
    "a member without account and password",
    (s) => s.replace(`, password: "${PASSWORD}"`, ""),
    ["organizations[0].members[0].password (line 6) is required: ada@issues.test has no account yet"],
  ],
  [
    "a short password for a new account",
    (s) => s.replace(`password: "${PASSWORD}"`, 'password: "short"'),
    ["organizations[0].members[0].password (line 6) must have at least 8 characters"],
  ],
  [
    "a secret that is not base64",
    (s) => s.replace(`secret: ${SECRET}`, "secret: 'not base64!'\n        signature: standard-webhooks"),
    [
      "organizations[0].triggers[0].secret (line 34) must be base64, with or without whsec_, for Standard Webhooks",
    ],
  ],
  [
    "a key that has expired",
    (s) => s.replace("{ name: ci }", "{ name: ci, expiresAt: 2020-01-01T00:00:00Z }"),
    ["organizations[0].apiKeys[0].expiresAt (line 7) is in the past"],
  ],
])("%s is rejected with its line, and nothing is written", async (_what, change, expected) => {
  const source = declareOrganization("issues");
  const issues = await issuesOf(change(source));
  expect(issues).toHaveLength(expected.length);
  for (const [index, issue] of expected.entries()) expect(issues[index]).toContain(issue);
  expect(await catalog.db.organization.count({ where: { slug: "issues" } })).toBe(0);
  expect(await catalog.db.user.count({ where: { email: "ada@issues.test" } })).toBe(0);
});

test("issues of the schema and of contents are listed together, each with its line, and nothing is written", async () => {
  const source = declareOrganization("both")
    .replace("credits: 1000", "credits: x")
    .replace(`, password: "${PASSWORD}"`, "")
    .replace("[{ name: ci }]", "[{ name: ci, scopes: [all], tools: [weather, rain] }]")
    .replace("description: Current", "descripton: Current")
    .replace("uses: http_request", "uses: http_get")
    .replace("uses: transform_json", "uses: transform_json\n            retries: many")
    .replace('output: "{{ steps.brief }}"', 'output: "{{ steps.brif }} {{ secrets.github }}"')
    .replace("maxSteps: 8", "maxSteps: 13")
    .replace("[calculate, current_time]", "[calculate, fly]")
    .replace("secret: s3cret-of-the-trigger", "secret: s3cret\n        messageTemplate: '{{ body. }}'")
    .replace("requests: 30", "requests: 0")
    .replace("slug: both\n", "slug: both\n    secrets: [{ name: github, hosts: ['https://github.test'] }]\n");
  expect((await issuesOf(source)).map((line) => line.replace(/^organizations\[0\]\./, ""))).toEqual([
    "secrets[0].hosts[0] (line 3) must be a host such as api.example.com or localhost:8080, without https:// and *",
    "credits (line 6) must be a number from 0 to 9999999999 with at most four decimal places",
    "members[0].password (line 7) is required: ada@both.test has no account yet",
    `apiKeys[0].scopes[0] (line 8) must be ${KEY_SCOPES.join(" or ")}`,
    'apiKeys[0].tools[1] (line 8) "rain" is not a tool of the organization. Known tools: weather',
    expect.stringContaining(
      "tools[0].descripton (line 12) is not known here; known fields: slug, name, description",
    ),
    expect.stringMatching(
      /^tools\[0\]\.steps\[0\]\.uses \(line 16\) there is no function named "http_get"; known functions: .*http_request/,
    ),
    expect.stringMatching(/^tools\[0\]\.steps\[1\]\.retries \(line 20\) must be a number from 0 to 10/),
    'tools[0].output (line 22) there is no step "brif"; steps before this one: fetch, brief',
    "tools[0].output (line 22) secrets cannot be used here; they can be used in url, headers, query, body, form, multipart, basicAuth of http_request",
    "agents[0].maxSteps (line 29) must be at most 12",
    expect.stringMatching(
      /^agents\[0\]\.functions\[1\] \(line 31\) "fly" is not a function. Known functions: /,
    ),
    expect.stringMatching(/^triggers\[0\]\.messageTemplate \(line 37\) /),
    "triggers[0].rateLimit.requests (line 38) must be at least 1",
  ]);
  expect(await catalog.db.organization.count({ where: { slug: "both" } })).toBe(0);
});

test("what refers to an invalid entry is not an issue, and an invalid slug hides no other issue", async () => {
  const odd = declareOrganization("odd")
    .replace("slug: odd\n", "slug: Odd\n")
    .replace("agent: helper", "agent: nobody");
  const issues = await issuesOf(odd.replace("uses: http_request", "uses: http_get"));
  expect(issues.map((line) => /\(line \d+\)/.exec(line)?.[0])).toEqual([
    "(line 2)",
    "(line 15)",
    "(line 33)",
  ]);
});

test("an error in one organization leaves the others of the file unchanged", async () => {
  const good = declareOrganization("good");
  const bad = declareOrganization("bad")
    .replace("organizations:\n", "")
    .replace("agent: helper", "agent: nobody");
  await issuesOf(good + bad);
  expect(await catalog.db.organization.count({ where: { slug: { in: ["good", "bad"] } } })).toBe(0);
});

test("a reference never resolves in another organization", async () => {
  const mine = await applyOne(declareOrganization("mine"));
  const before = await everything(mine.id);
  const theirs = `organizations:
  - slug: theirs
    agents: [{ slug: helper, name: Other, model: m, tools: [weather] }]
`;
  expect(await issuesOf(theirs)).toEqual([
    'organizations[0].agents[0].tools[0] (line 3) "weather" is not a tool of the organization. Known tools: none',
  ]);
  const applied = await applyOne(theirs.replace(", tools: [weather]", ""));
  expect(applied.agents[0]?.id).not.toBe(mine.agents[0]?.id);
  expect(await everything(mine.id)).toEqual(before);
});

const TEAM = `organizations:
  - slug: team
    tools:
      - slug: first
        name: First
        steps:
          - { id: again, uses: run_tool, with: { tool: first } }
          - { id: later, uses: run_tool, with: { tool: second } }
          - { id: ask, uses: run_agent, with: { agent: helper, message: Hi } }
      - slug: second
        name: Second
        steps: [{ id: now, uses: current_time }]
    agents: [{ slug: helper, name: Helper, model: m, tools: [second] }]
`;

test("steps call what the file declares anywhere, and themselves; other names are listed with the known ones", async () => {
  const unknown = TEAM.replace("tool: second }", "tool: sky }").replace("agent: helper,", "agent: nobody,");
  const issues = [
    'organizations[0].tools[0].steps[1].with.tool (line 8) "sky" is not a tool of the organization. Known tools: first, second',
    'organizations[0].tools[0].steps[2].with.agent (line 9) "nobody" is not an agent of the organization. Known agents: helper',
  ];
  expect(await issuesOf(unknown)).toEqual(issues);
  // Issues of other entries neither hide them nor make their names unknown.
  const invalid = unknown.replace("current_time", "fly").replace("model: m", "model: m, functions: [fly]");
  expect(await issuesOf(invalid)).toEqual(expect.arrayContaining(issues));
  expect(await issuesOf(invalid)).toHaveLength(4);
  expect(await catalog.db.organization.count({ where: { slug: "team" } })).toBe(0);

  expect(new Set(savedOf(await applyOne(TEAM)))).toEqual(new Set(["created"]));
  expect(new Set(savedOf(await applyOne(TEAM)))).toEqual(new Set(["unchanged"]));
  expect(await issuesOf(unknown)).toEqual(issues);
});

test("an archived target is named as such, and what the file declares is restored", async () => {
  const source = TEAM.replace("slug: team", "slug: archive");
  const { id } = await applyOne(source);
  const archive = () =>
    catalog.db.tool.updateMany({
      where: { organizationId: id, slug: "second" },
      data: { deletedAt: catalog.clock.now() },
    });
  await archive();
  const without = source
    .replace(/ {6}- slug: second\n[^-]*?steps: .*\n/, "")
    .replace(", tools: [second]", "");
  expect(await issuesOf(without)).toEqual([
    'organizations[0].tools[0].steps[1].with.tool (line 8) "second" is archived: restore it, or choose another one. Known tools: first',
  ]);
  const applied = await applyOne(source);
  expect(applied.tools.map(({ saved }) => saved)).toEqual(["unchanged", "restored"]);
});

test("of many known names twenty are listed", async () => {
  const tools = Array.from({ length: 25 }, (_, index) => `tool-${String(index + 10)}`);
  const declare = (called: string) => `organizations:
  - slug: many
    tools:
      - { slug: caller, name: Caller, steps: [{ id: a, uses: run_tool, with: { tool: ${called} } }] }
${tools.map((slug) => `      - { slug: ${slug}, name: T, steps: [{ id: a, uses: current_time }] }\n`).join("")}`;
  const listed = ["caller", ...tools.slice(0, 19)].join(", ");
  const issue = [expect.stringMatching(new RegExp(`Known tools: ${listed} and 6 more$`))];
  expect(await issuesOf(declare("tool-99"))).toEqual(issue);
  await applyOne(declare("caller"));
  expect(await issuesOf(declare("tool-99"))).toEqual(issue);
  expect(await issuesOf(declare("tool-99").replace(/ {6}- \{ slug: tool-.*\n/g, ""))).toEqual(issue);
});

test("files applied at the same moment create one organization, one key, one grant", async () => {
  const results = await Promise.all(
    Array.from({ length: 6 }, () => applyOne(declareOrganization("concurrent"))),
  );
  expect(results.filter(({ saved }) => saved === "created")).toHaveLength(1);
  expect(results.flatMap(({ apiKeys }) => apiKeys.filter(({ key }) => key !== undefined))).toHaveLength(1);
  expect(new Set(results.map(({ triggers }) => triggers[0]?.token)).size).toBe(1);
  const { keys, agents, entries } = await everything(results[0]?.id ?? "");
  expect([keys.length, agents[0]?.versions.length, entries.length]).toEqual([1, 1, 1]);
});

test("files that name the same organizations in another order do not block each other", async () => {
  const one = declareOrganization("left") + declareOrganization("right").replace("organizations:\n", "");
  const other = declareOrganization("right") + declareOrganization("left").replace("organizations:\n", "");
  const changed = (source: string, steps: number) => source.replaceAll("maxSteps: 8", `maxSteps: ${steps}`);
  await applyDefinitionFile(catalog, one);
  await Promise.all(
    [1, 2, 3, 4].map((steps) => applyDefinitionFile(catalog, changed(steps % 2 === 0 ? one : other, steps))),
  );
  const agents = await catalog.db.agent.findMany({
    where: { organization: { slug: { in: ["left", "right"] } } },
    include: { versions: true },
  });
  expect(agents.map(({ version, versions }) => [version, versions.length])).toEqual([
    [5, 5],
    [5, 5],
  ]);
});

test("numbers that a double cannot hold keep their digits from a file to its export", async () => {
  const digits = ["8202522731445525542", "0.12345678901234567891"];
  const file = declareOrganization("digits")
    .replace("maxSteps: 8", `maxSteps: 8\n        modelOptions: { seed: ${digits[0]} }`)
    .replace("city: { type: string }", `city: { type: string }, id: { type: integer, maximum: ${digits[0]} }`)
    .replace("uses: transform_json", "uses: set_value")
    .replace(/with: \{ value: .*\n/, `with: { key: k, value: { id: ${digits[0]}, price: ${digits[1]} } }\n`);
  const applied = await applyOne(file);
  const { tools, agents } = await everything(applied.id);
  const [tool, agent] = [tools[0]?.versions[0]?.definition, agents[0]?.versions[0]?.definition];
  expect(tool).toContain(`"value":{"id":${digits[0]},"price":${digits[1]}}`);
  expect(tool).toContain(`"maximum":${digits[0]}`);
  expect(agent).toContain(`"seed":${digits[0]}`);
  const exported = await exportOrganization(catalog, await operatorOf(catalog, "digits"));
  for (const line of [
    `maximum: ${digits[0]}`,
    `seed: ${digits[0]}`,
    `id: ${digits[0]}`,
    `price: ${digits[1]}`,
  ])
    expect(exported).toContain(line);
  expect(new Set(savedOf(await applyOne(file)))).toEqual(new Set(["unchanged"]));
  expect(new Set(savedOf(await applyOne(exported)))).toEqual(new Set(["unchanged"]));
});

test("callbacks are created with a secret, and exported without it", async () => {
  const source = `${declareOrganization("called-back")}
    callbacks:
      - slug: erp
        url: https://erp.test/hooks
        events: [run.completed, run.failed, credits.low, schedule.missed]
        creditsBelow: 12.5
        agents: [helper]
        tools: [weather]
        triggers: [inbound]
        metadata: { shop: "no", level: 2 }
`;
  const first = await applyOne(source);
  expect(first.callbacks).toMatchObject([
    { slug: "erp", saved: "created", secret: expect.stringMatching(/^whsec_/) },
  ]);
  const stored = await catalog.db.callbackEndpoint.findMany({ where: { organizationId: first.id } });
  expect(stored).toMatchObject([{ name: "erp", triggerIds: [first.triggers[0]?.id] }]);
  const exported = await exportOrganization(catalog, await operatorOf(catalog, "called-back"));
  expect(exported).toContain("url: https://erp.test/hooks");
  expect(exported).toContain("creditsBelow: 12.5");
  expect(exported).not.toContain("whsec_");
  for (const again of [source, exported]) {
    expect((await applyOne(again)).callbacks).toMatchObject([{ saved: "unchanged", secret: null }]);
  }
});

test("a callback of a trigger whose agent is archived keeps its filter: the export leaves both out", async () => {
  const { id } = await applyOne(`${declareOrganization("called-late")}
    callbacks:
      - { slug: erp, url: "https://erp.test/hooks", events: [run.completed], triggers: [inbound] }
`);
  const stored = () => catalog.db.callbackEndpoint.findFirstOrThrow({ where: { organizationId: id } });
  const before = await stored();
  expect(before.triggerIds).toHaveLength(1);
  const deletedAt = catalog.clock.now();
  await catalog.db.agent.updateMany({ where: { organizationId: id }, data: { deletedAt } });
  await applyOne(await exportOrganization(catalog, await operatorOf(catalog, "called-late")));
  expect(await stored()).toEqual(before);
});

test("a callback's issues have their lines", async () => {
  const source = `${declareOrganization("called-wrong")}
    callbacks:
      - { slug: erp, url: "http://erp.test", events: [run.ended], agents: [nobody] }
      - { slug: crm, url: "http://crm.test", events: [run.failed], triggers: [nothing] }
      - { slug: pay, url: "https://pay.test", events: [credits.low] }
`;
  const issues = await issuesOf(source);
  expect(issues).toEqual([
    expect.stringContaining("organizations[0].callbacks[0].events[0]"),
    expect.stringContaining("organizations[0].callbacks[1].url"),
    expect.stringContaining("organizations[0].callbacks[1].triggers[0] (line"),
    expect.stringContaining("organizations[0].callbacks[2].creditsBelow (line"),
  ]);
});
