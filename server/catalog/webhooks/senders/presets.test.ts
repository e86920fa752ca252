import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PRESETS } from "./presets";
import { signatureDefinition } from "./signature-definition";

const PAGE = readFileSync("docs/senders.md", "utf8");

it.each(Object.entries(PRESETS))("the guide of senders describes %s", (name, { title, rule }) => {
  const row = PAGE.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? "";
  expect(row.toLowerCase(), "docs/senders.md needs a row").toContain(`\`${rule.header}\``);
  if (name !== "hex") expect(PAGE, "docs/senders.md needs a section").toContain(`\n## ${title}\n`);
});

const custom = (part: object) =>
  signatureDefinition.safeParse({ custom: { header: "X-Acme", ...part } }).error?.issues[0]?.message;

it.each([
  [{ signingString: "{now}.{body}" }, "has no placeholder {now}"],
  [{ signingString: "fixed" }, "must contain {body}"],
  [{ signingString: "{timestamp}.{body}" }, "is required, because signingString contains {timestamp}"],
  [{ timestampHeader: "X-Time" }, "must contain {timestamp}"],
  [{ signingString: "{id}.{body}" }, "is required, because signingString contains {id}"],
  [{ contentTypes: ["text/html"] }, "Invalid option"],
])("the rule %j is rejected", (part, message) => {
  const found = signatureDefinition.safeParse({ custom: { header: "X-Acme", ...part } });
  expect(JSON.stringify(found.error?.issues)).toContain(message);
});

it("a rule has defaults, and an unknown name is rejected with the known ones", () => {
  expect(custom({})).toBeUndefined();
  expect(signatureDefinition.safeParse("github-app").error?.issues[0]?.message).toContain(
    '"github", "stripe"',
  );
});
