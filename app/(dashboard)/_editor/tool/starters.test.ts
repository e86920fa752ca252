import { expect, it } from "vitest";
import { toolDefinition } from "@/server/catalog/definitions";
import { findWorkflowIssues } from "@/server/work/workflow/check";
import { EMPTY_TOOL, TOOL_STARTERS } from "./starters";
import { readTool, setValue } from "./tool-document";

it.each(TOOL_STARTERS)("a tool that begins as $slug can be saved as it is", async ({ slug, name, yaml }) => {
  const { name: named, ...definition } = toolDefinition.parse(readTool(yaml)?.fields);
  expect([definition.slug, named]).toEqual([slug, name]);
  const known = { secrets: [], findUnknown: async () => new Map<string, { message: string }>() };
  const { parameters, steps, output } = definition;
  expect(
    await findWorkflowIssues({ ...JSON.parse(JSON.stringify({ parameters, steps, output })) }, known, "o"),
  ).toEqual([]);
});

it("an empty tool has no steps and takes the first one", () => {
  expect(readTool(EMPTY_TOOL)).toMatchObject({ steps: [], inputs: [] });
  expect(readTool(setValue(EMPTY_TOOL, ["slug"], "a"))?.fields).toMatchObject({ slug: "a" });
});
