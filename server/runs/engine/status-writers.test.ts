import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

// The text between SET and the next WHERE, FROM or RETURNING.
const UPDATE_OF_RUNS =
  /UPDATE\s+(?:ONLY\s+)?"?runs"?\s+(?:AS\s+)?(?:\w+\s+)??SET\s+([\s\S]*?)(?=\bWHERE\b|\bFROM\b|\bRETURNING\b|`)/gi;
const PRISMA_WRITE =
  /\.run\.(?:update|updateMany|updateManyAndReturn|upsert|create|createMany|delete|deleteMany)\(/;

function sources(): string[] {
  return ["app", "server", "inngest", "scripts/cli"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$|\/generated\/|\/testing\//.test(file)),
  );
}

it("only a claim and the functions of the database write a run's status", () => {
  const writers = sources().filter((file) => {
    const text = readFileSync(file, "utf8");
    const assignments = [...text.matchAll(UPDATE_OF_RUNS)].map(([, assigned = ""]) => assigned);
    return PRISMA_WRITE.test(text) || assignments.some((assigned) => /\bstatus"?\s*=/.test(assigned));
  });
  expect(writers).toEqual(["server/runs/engine/claim.ts"]);
});

it.each([
  "UPDATE runs SET status = 'Running' WHERE id = $1",
  "UPDATE runs r SET held = 0,\n  status = $2::run_status\n WHERE true",
  "UPDATE runs SET sequence = 1, \"status\" = 'Failed' RETURNING id",
])("that test would find %j", (statement) => {
  const assigned = [...statement.matchAll(UPDATE_OF_RUNS)].map(([, found = ""]) => found).join();
  expect(assigned).toMatch(/\bstatus"?\s*=/);
});
