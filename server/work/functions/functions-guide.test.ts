import { join } from "node:path";
import { expect, it } from "vitest";
import { functionsGuide } from "@/testing/functions-guide";

it("docs/functions.md matches the registry", async () => {
  const page = join(import.meta.dirname, "../../../docs/functions.md");
  await expect(functionsGuide(), "Out of date: run `npm run docs:generate`.").toMatchFileSnapshot(page);
});
