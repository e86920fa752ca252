import { spawn } from "node:child_process";
import { text as textOf } from "node:stream/consumers";
import { z } from "zod";
import { expect, test } from "./support/fixtures";
import { finishRun } from "./support/start";

/** The actions on a run's page. */

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

  await page.route("**/text?field=input", (route) =>
    route.fulfill({ status: 500, json: { success: false } }),
  );
  await page.evaluate(() => navigator.clipboard.writeText("what was there"));
  await copyAsCurl();
  await expect(page.getByText("Copying failed")).toBeVisible();
  expect(await clipboard()).toBe("what was there");
  await page.unroute("**/text?field=input");

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
