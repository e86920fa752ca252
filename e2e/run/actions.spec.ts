import { spawn } from "node:child_process";
import { text as textOf } from "node:stream/consumers";
import type { Route } from "@playwright/test";
import { z } from "zod";
import { editor, expectText, fillEditor } from "../support/editor";
import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("the copied call starts the same run for any input, and a failed copy is reported", async ({
  ownerPage: page,
  context,
  request,
  organization,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const tool = organization.toolIds.echo ?? "";
  const nasty = `it's "so" $HOME \`id\` $(id) \\n %s !! \n\tEOF\nEOF\n\u{1f642} `;
  // Its JSON is slightly below 1 MiB, the limit.
  const input = { text: nasty.repeat(18_000) };
  const id = await finishRun(request, organization, { tool, input });
  await page.goto(`/runs/${id}`);
  const copyAsCurl = async () => {
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Copy as curl" }).click();
  };
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  await page.route("**/text?field=input&*", (route) =>
    route.fulfill({ status: 500, json: { success: false } }),
  );
  await page.evaluate(() => navigator.clipboard.writeText("what was there"));
  await copyAsCurl();
  await expect(page.getByText("Nothing was copied")).toBeVisible();
  expect(await clipboard()).toBe("what was there");
  await page.unroute("**/text?field=input&*");

  await copyAsCurl();
  await expect(page.getByText("Copied as curl").last()).toBeVisible();
  const shell = spawn("sh", { env: { ...process.env, API_KEY: organization.apiKey } });
  shell.stdin.end(`${await clipboard()}\n`);
  const [printed, errors] = await Promise.all([textOf(shell.stdout), textOf(shell.stderr)]);
  const started = z.object({ success: z.literal(true), id: z.string() }).parse(JSON.parse(printed || errors));
  const text = await page.request.get(`/api/runs/${started.id}/text?field=input`);
  expect((await text.text()) === JSON.stringify(input)).toBe(true);
  await context.clearPermissions();
});

test("a run can be run again, also with different input", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 4 } });
  await page.goto(`/runs/${id}`);
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText("8");

  await page.getByRole("button", { name: "More run options" }).click();
  await page.getByRole("menuitem", { name: "With different input" }).click();
  const input = editor(page, "Input, a JSON object");
  await fillEditor(input, "{");
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("dialog")).toContainText("This is not valid JSON");
  await fillEditor(input, '{"number": "four"}');
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("dialog")).toContainText("does not match");
  await expect(page.getByRole("dialog").getByRole("listitem")).toHaveText("/number must be number");

  // The draft is there again, however the dialog was closed.
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.getByRole("button", { name: "More run options" }).click();
  await page.getByRole("menuitem", { name: "With different input" }).click();
  await expectText(input, '{"number": "four"}');
  await page.getByRole("button", { name: "Reset to the run's input" }).click();
  await expectText(input, '{\n  "number": 4\n}');
  await fillEditor(input, '{"number": 50}');
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText("100");
});

test("a start whose answer is lost is repeated, not made twice", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 6 } });
  await page.goto(`/runs/${id}`);
  let started = "";
  const loseAnswer = async (route: Route) => {
    const [answer] = await (await route.fetch()).json();
    started = answer.result.data.runId;
    await route.abort();
  };
  await page.route("**/api/trpc/*runs.rerun*", loseAnswer, { times: 1 });
  const again = page.getByRole("button", { name: "Run again", exact: true });
  await again.click();
  await expect(page.getByText("Could not start the run")).toBeVisible();
  await again.click();
  await page.waitForURL((url) => url.pathname !== `/runs/${id}`);
  await expect(page).toHaveURL(`/runs/${started}`);
  // What was answered is over: the same start is another run.
  await page.goBack();
  await again.click();
  await page.waitForURL((url) => ![id, started].some((each) => url.pathname === `/runs/${each}`));
});
