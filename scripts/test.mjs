import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ensureBuild } from "./build.mjs";
import { ensureBrowser } from "./support/browser.mjs";
import { clearSettings } from "./support/environment.mjs";
import { ROOT } from "./support/project.mjs";
import { runNode } from "./support/run-program.mjs";
import { setUp } from "./support/set-up.mjs";
import { onShutdown, runCommand } from "./support/shutdown.mjs";

/**
 * `npm test`: runs all tests from any state of the folder, on their own databases. The last line is `N passed, N
 * failed, N skipped`.
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} Sum `failures`: what to print
 * of each failed test
 */

const print = console.log;

await runCommand(async () => {
  await setUp(print, clearSettings);
  await ensureBrowser(print);
  const { createThrowaway, removeAbandoned, removeThrowaway } = await import("./support/throwaway.mjs");
  // An interrupted runner leaves its database behind.
  onShutdown(removeAbandoned);
  const folder = await createThrowaway();
  onShutdown(() => removeThrowaway(folder));

  await ensureBuild(print, { pages: false });
  // The tests below use its programs, and leave half a core idle for the pages.
  const building = runNode("The build", [join(ROOT, "scripts/build.mjs")], { background: true });
  building.catch(() => {});

  print("\nUnit, contract and engine tests");
  const first = await run(
    "node_modules/vitest/vitest.mjs",
    ["run", "--reporter=default", "--reporter=json"],
    {
      report: join(folder, "vitest.json"),
      outputFile: "--outputFile.json=",
      read: readVitest,
    },
  );

  await building;
  print("\nBrowser tests");
  const second = await run("node_modules/@playwright/test/cli.js", ["test", "--reporter=list,json"], {
    report: join(folder, "playwright.json"),
    read: readPlaywright,
  });

  const sum = {
    passed: first.passed + second.passed,
    failed: first.failed + second.failed,
    skipped: first.skipped + second.skipped,
  };
  // Again at the end: what failed first has scrolled away, and a log may be cut.
  for (const failure of [...first.failures, ...second.failures]) print(`\nFailed: ${failure}`);
  print(`\n${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  return sum.failed === 0 ? 0 : 1;
});

/**
 * Runs one test runner and reads its report. A failure outside of single tests (a file that does not load, a server
 * that does not start) counts as one failure.
 * @param {string} runner
 * @param {string[]} parameters
 * @param {{ report: string, outputFile?: string, read: (report: any) => Sum }} options
 * @returns {Promise<Sum>}
 */
async function run(runner, parameters, { report, outputFile, read }) {
  const exitCode = await runNode(
    runner,
    [join(ROOT, runner), ...parameters, ...(outputFile ? [`${outputFile}${report}`] : [])],
    {
      loud: true,
      env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report },
    },
  ).then(
    () => true,
    () => false,
  );
  /** @type {Sum} */
  let sum = { passed: 0, failed: 0, skipped: 0, failures: [] };
  try {
    sum = read(JSON.parse(readFileSync(report, "utf8")));
  } catch {
    print(`${runner} left no report.`);
    return { ...sum, failed: 1 };
  }
  return exitCode || sum.failed > 0 ? sum : { ...sum, failed: 1 };
}

/**
 * @typedef {object} VitestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {{ name: string, message: string, assertionResults: VitestResult[] }[]} testResults by file; `message`:
 * why a file did not load
 *
 * @typedef {{ status: string, fullName: string, failureMessages: string[] | null }} VitestResult
 */

/** @param {VitestReport} report */
function readVitest(report) {
  const failures = report.testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(ROOT, name);
    const failed = assertionResults.filter(({ status }) => status === "failed");
    return [
      ...(message ? [`${file}\n${message}`] : []),
      ...failed.map((test) => `${file}: ${test.fullName}\n${(test.failureMessages ?? []).join("\n")}`),
    ];
  });
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  };
}

/**
 * @typedef {{ suites?: PlaywrightSuite[], specs: { file: string, title: string, ok: boolean }[] }} PlaywrightSuite
 * @typedef {{ expected: number, unexpected: number, flaky: number, skipped: number }} PlaywrightStats
 */

/** @param {{ stats: PlaywrightStats, suites: PlaywrightSuite[] }} report */
function readPlaywright({ stats, suites }) {
  return {
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected,
    skipped: stats.skipped,
    failures: suites.flatMap(failedSpecs),
  };
}

/**
 * @param {PlaywrightSuite} suite
 * @returns {string[]}
 */
function failedSpecs({ suites = [], specs }) {
  const failed = specs.filter(({ ok }) => !ok).map(({ file, title }) => `e2e/${file}: ${title}`);
  return [...failed, ...suites.flatMap(failedSpecs)];
}
