import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { explainSetting } from "@/server/work/agent/field-changes";
import { describeAgentFields } from "./agent-fields";

const PAGE = join(import.meta.dirname, "../../docs/definition-files.md");

it("docs/definition-files.md lists the fields of an agent", async () => {
  const { properties, required } = describeAgentFields().schema;
  const rows = Object.entries(properties).map(([name, schema]) => {
    const { meaning, preset } = explainSetting(typeof schema === "object" ? schema : {});
    return `| \`${name}\` | ${meaning} | ${required.includes(name) ? "required" : preset} |`;
  });
  const table = ["| Field | Meaning | Default |", "|---|---|---|", ...rows].join("\n");
  const page = readFileSync(PAGE, "utf8").replace(
    /(<!-- Fields of an agent: .*? -->\n\n)[\s\S]*?(?=\n\n)/,
    (_, head: string) => head + table,
  );
  expect(page).toContain(table);
  await expect(page, "Out of date: run `npm run docs:generate`.").toMatchFileSnapshot(PAGE);
});
