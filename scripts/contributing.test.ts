// @module-tag once
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

function readSamples(): Map<string, string> {
  const text = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const blocks = text.matchAll(/Write `(?<file>[^`]+\.ts)`:\n\n {3}```ts\n(?<code>.*?) {3}```\n/gs);
  return new Map(
    [...blocks].map(({ groups }) => [
      join(ROOT, groups?.file ?? ""),
      groups?.code?.replace(/^ {3}/gm, "") ?? "",
    ]),
  );
}

test("the function that CONTRIBUTING.md adds compiles, with its test", () => {
  const samples = readSamples();
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => samples.has(file) || fileExists(file);
  host.readFile = (file) => samples.get(file) ?? readFile(file);
  host.getSourceFile = (file, target, ...rest) => {
    const sample = samples.get(file);
    return sample === undefined
      ? getSourceFile(file, target, ...rest)
      : ts.createSourceFile(file, sample, target);
  };
  const program = ts.createProgram([...samples.keys()], options, host);
  const issues = [...samples.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
  expect(samples.size).toBe(2);
  expect(issues.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
}, 60_000);
