import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveOthers } from "../others";
import { readPeers } from "./peers";
import { runAgent, runTool } from "./work";

test("peers are found where they are installed, and those that are missing are named with the way out", () => {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-peers-"));
  try {
    expect(() => readPeers("dbos", folder)).toThrow(
      /^@dbos-inc\/dbos-sdk not found in --peers \S+\.\n\n.*npm install .*@dbos-inc\/dbos-sdk/s,
    );
    mkdirSync(join(folder, "node_modules/@dbos-inc/dbos-sdk"), { recursive: true });
    expect(readPeers("dbos", folder)).toEqual(["dbos"]);
    expect(() => readPeers("restate,dbos", undefined)).toThrow(
      /^@restatedev\/restate-server and @restatedev\/restate-sdk and @dbos-inc\/dbos-sdk not found in --peers FOLDER/,
    );
    expect(() => readPeers("temporal", folder)).toThrow(
      /^There is no peer "temporal"\. Use restate or dbos\./,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a peer's agent run is three model calls and two function calls, a tool run one step", async () => {
  const steps: string[] = [];
  const doStep = async <Result>(name: string, act: () => Promise<Result>) => {
    steps.push(name);
    return act();
  };
  const { model, close } = await serveOthers(0);
  try {
    expect(await runAgent(doStep, { userMessage: "What is 6 * 7?" }, model)).toBe("42");
  } finally {
    close();
  }
  expect(steps).toEqual(["model 1", "call 1.0", "model 2", "call 2.0", "model 3"]);
  expect(await runTool(doStep, { a: 1 })).toBe(1);
  expect(steps.slice(5)).toEqual(["one"]);
});
