import { join, relative } from "node:path";
import { ensureBuild } from "./build.mjs";
import { clearSettings } from "./environment.mjs";
import { ensureBrowser } from "./support/browser.mjs";
import { prepareProject } from "./support/prepare-project.mjs";
import { ROOT, readIfPresent } from "./support/project.mjs";
import { runNode } from "./support/run-program.mjs";
import { onShutdown, runCommand } from "./support/shutdown.mjs";

/**
 * `npm test`: runs the tests from any state of the folder, on their own databases. `npm run test:long` runs those that
 * take long instead, `--oldest-node` leaves out the browser tests and those tagged `once`. The last line is
 * `N passed, N failed, N skipped`.
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} Sum `failures`: what to print
 * of each failed test
 */

const print = console.log;
const isLong = process.argv.includes("--long");
const isOldestNode = process.argv.includes("--oldest-node");
const withBrowser = !isOldestNode;

await runCommand(async () => {
  await prepareProject(clearSettings);
  if (withBrowser) await ensureBrowser();
  const { createThrowaway, removeAbandoned, removeThrowaway } = await import("./postgres/throwaway.mjs");
  // An interrupted runner leaves its database behind.
  onShutdown(removeAbandoned);
  const folder = await createThrowaway();
  onShutdown(() => removeThrowaway(folder));

  await ensureBuild({ pages: false });
  // The tests below use its programs, and leave half a core idle for the pages.
  const building = withBrowser
    ? runNode("The build", ["scripts/build.mjs"], { background: true })
    : Promise.resolve();
  building.catch(() => {});

  print(`\nUnit, contract and engine tests on Node ${process.version}`);
  const report = join(folder, "vitest.json");
  const tags = `--tags-filter=${isLong ? "long" : "!long"}${isOldestNode ? " && !once" : ""}`;
  const vitest = ["vitest/vitest.mjs", "run", tags, "--reporter=default", "--reporter=json"];
  const sums = [await run([...vitest, `--outputFile.json=${report}`], report, readVitest)];
  await building;
  if (withBrowser) {
    print("\nBrowser tests");
    const browserReport = join(folder, "playwright.json");
    const grep = isLong ? "--grep" : "--grep-invert";
    const playwright = ["@playwright/test/cli.js", "test", grep, "@long", "--reporter=list,json"];
    sums.push(await run(playwright, browserReport, readPlaywright));
  }

  // Again at the end: what failed first has scrolled away, and a log may be cut.
  for (const failure of sums.flatMap(({ failures }) => failures)) print(`\nFailed: ${failure}`);
  const count = (/** @type {"passed" | "failed" | "skipped"} */ what) =>
    sums.reduce((total, sum) => total + sum[what], 0);
  print(`\n${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
  return count("failed") === 0 ? 0 : 1;
});

/**
 * Runs one test runner and reads its report. A failure outside of single tests (a file that does not load, a server
 * that does not start) counts as one failure.
 * @template Report
 * @param {string[]} call a program in node_modules and its parameters
 * @param {string} report where it writes its report
 * @param {(report: Report) => Sum} read
 * @returns {Promise<Sum>}
 */
async function run([runner = "", ...parameters], report, read) {
  const hasPassed = await runNode(runner, [`node_modules/${runner}`, ...parameters], {
    loud: true,
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report },
  }).then(
    () => true,
    () => false,
  );
  try {
    const sum = read(JSON.parse(readIfPresent(report) ?? ""));
    return hasPassed || sum.failed > 0 ? sum : { ...sum, failed: 1 };
  } catch {
    print(`${runner} left no report.`);
    return { passed: 0, failed: 1, skipped: 0, failures: [] };
  }
}

/** @param {import("vitest/reporters").JsonTestResults} report */
function readVitest({ numPassedTests, numFailedTests, testResults }) {
  const failures = testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(ROOT, name);
    const failed = assertionResults.filter(({ status }) => status === "failed");
    return [
      // The reason why the file did not load.
      ...(message ? [`${file}\n${message}`] : []),
      ...failed.map((test) => `${file}: ${test.fullName}\n${(test.failureMessages ?? []).join("\n")}`),
    ];
  });
  // The tests that were left out are not counted.
  const skipped = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(
      ({ status, tags = [] }) =>
        !/passed|failed/.test(status) &&
        tags.includes("long") === isLong &&
        !(isOldestNode && tags.includes("once")),
    ).length;
  return { passed: numPassedTests, failed: numFailedTests, skipped, failures };
}

/** @param {import("@playwright/test/reporter").JSONReport} report */
function readPlaywright({ stats: { expected, unexpected, flaky, skipped }, suites }) {
  return { passed: expected + flaky, failed: unexpected, skipped, failures: suites.flatMap(failedSpecs) };
}

/**
 * @param {import("@playwright/test/reporter").JSONReportSuite} suite
 * @returns {string[]}
 */
function failedSpecs({ suites = [], specs }) {
  const failed = specs.filter(({ ok }) => !ok).map(({ file, title }) => `e2e/${file}: ${title}`);
  return [...failed, ...suites.flatMap(failedSpecs)];
}
