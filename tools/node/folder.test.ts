import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { expect, test } from "vitest";

function run(version: string) {
  const call = ["tools/node/folder.mjs", version];
  const { status, stdout, stderr } = spawnSync(process.execPath, call, { encoding: "utf8" });
  return { status, stdout: stdout.trim(), stderr: stderr.trim() };
}

test("a Node of the wanted version is used as it is", () => {
  const [major = ""] = process.versions.node.split(".");
  expect(run(major)).toEqual({ status: 0, stdout: dirname(process.execPath), stderr: "" });
});

test("a version that npm does not bring is a sentence", () => {
  expect(run("18")).toEqual({
    status: 1,
    stdout: "",
    stderr: `npm has no Node 18 for this machine (${process.platform}, ${process.arch}). Install it from https://nodejs.org, and run the command again.`,
  });
});
