import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeAgentFields } from "./agent-fields";

const PAGE = join(import.meta.dirname, "../../docs/definition-files.md");

it("docs/definition-files.md lists the fields of an agent", async () => {
  const rows = describeAgentFields().map(
    ({ name, description, default: preset }) => `| \`${name}\` | ${description} | ${preset ?? "required"} |`,
  );
  const table = ["| Field | Meaning | Default |", "|---|---|---|", ...rows].join("\n");
  const page = readFileSync(PAGE, "utf8").replace(
    /(<!-- Fields of an agent: .*? -->\n\n)[\s\S]*?(?=\n\n)/,
    (_, head: string) => head + table,
  );
  expect(page).toContain(table);
  await expect(page, "Out of date: run `npm run docs:generate`.").toMatchFileSnapshot(PAGE);
});
