import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MAX_JSON_DEPTH } from "@/server/base/json/text";
import { MAX_FILE_DEPTH } from "@/server/catalog/definition-file/yaml-document";
import {
  MAX_ANSWERS_BYTES,
  MAX_BODY_BYTES,
  MAX_FINAL_OUTPUT_BYTES,
  MAX_STEP_INPUTS_BYTES,
  MAX_STEP_OUTPUT_BYTES,
  MAX_STEP_OUTPUTS_BYTES,
  MAX_TREE_OUTPUTS_BYTES,
} from "@/server/contract/sizes";
import { SCHEMA_LIMITS } from "@/server/work/json-schema/schema-limits";
import { WORKFLOW_LIMITS } from "./definition";

const count = (value: number) => value.toLocaleString("en-US");
const kib = (bytes: number) => `${count(bytes / 1024)} KiB`;
const mib = (bytes: number) => `${bytes / 1024 ** 2} MiB`;

it("docs/definition-files.md lists the limits of workflows", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/definition-files.md"), "utf8");
  const limits = WORKFLOW_LIMITS;
  const rows = [
    ["Steps of a tool, with those in groups", count(limits.steps)],
    ["Steps of a group", count(limits.groupSteps)],
    ["Items of a `forEach`", count(limits.items)],
    ["Calls of a step or group in progress at once", count(limits.concurrency)],
    ["Further attempts of a call", count(limits.retries)],
    ["The longest wait between attempts", `${limits.longestRetryWaitMs / 1000} seconds`],
    ["A definition", kib(limits.definitionBytes)],
    ["Nesting of a definition and of JSON values", `${MAX_JSON_DEPTH} levels`],
    ["Nesting of a definition file", `${MAX_FILE_DEPTH} levels`],
    [
      "A JSON Schema",
      `${kib(SCHEMA_LIMITS.characters)}, ${SCHEMA_LIMITS.depth} levels, ${count(SCHEMA_LIMITS.subschemas)} subschemas`,
    ],
    ["The outputs of a `forEach` together", mib(MAX_FINAL_OUTPUT_BYTES)],
  ];
  for (const [name, limit] of rows) expect(page).toContain(`| ${name} | ${limit} |`);
});

it("docs/contract.md lists the limits of inputs and outputs", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/contract.md"), "utf8");
  const rows = [
    ["A tool's input, a webhook's body", MAX_BODY_BYTES],
    ["A function's output", MAX_STEP_OUTPUT_BYTES],
    ["The inputs of a tool run's calls together", MAX_STEP_INPUTS_BYTES],
    ["The outputs of a run's steps together", MAX_STEP_OUTPUTS_BYTES],
    ["The same with the steps of the runs in progress that it calls", MAX_TREE_OUTPUTS_BYTES],
    ["The answers of an agent's model together, with reasoning and calls", MAX_ANSWERS_BYTES],
    ["Final output", MAX_FINAL_OUTPUT_BYTES],
  ] as const;
  for (const [name, bytes] of rows) expect(page).toContain(`| ${name} | ${mib(bytes)}`);
});
