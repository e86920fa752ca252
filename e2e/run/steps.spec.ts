import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("shows input, answer, every step with its input and output, and the figures", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { agent: "What is 6 * 7?" });
  await page.goto(`/runs/${id}`);
  await expect(page.getByRole("region", { name: "Input", exact: true })).toContainText("What is 6 * 7?");
  await expect(page.getByRole("region", { name: "Answer" })).toContainText("42");
  await expect(page.getByRole("region", { name: "Facts" })).toContainText(/Tokens[\d,]+ [\d,]+ in, \d+ out/);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  await expect(timeline.getByRole("option")).toHaveCount(3);
  await timeline.getByRole("option", { name: /^Step 1 ?calculate/ }).click();
  await expect(page).toHaveURL(/step=1/);
  const step = page.getByRole("region", { name: "Step 1" });
  await expect(step.getByRole("region", { name: "Input of the step" })).toContainText("6 * 7");
  await expect(step.getByRole("region", { name: "Output of the step" })).toContainText("42");
  await timeline.getByRole("option", { selected: true }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(/call=/);
  const call = page.getByRole("region", { name: /^Model call/ });
  await call.getByRole("tab", { name: "Prompt" }).click();
  await expect(call.getByText("result of step 1, calculate")).toBeVisible();
  await expect(call.getByRole("region", { name: "Tools offered" })).toContainText("double");
  await expect(call.getByText("You help with sums.")).toBeHidden();
  await call.getByRole("button", { name: "Show 2 messages of earlier calls" }).click();
  await expect(call.getByText("You help with sums.")).toBeVisible();
});

test("the address leads to a step", async ({ ownerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.counterId, input: { to: 5 } });
  await page.goto(`/runs/${id}?step=4`);
  await expect(page.getByRole("region", { name: "Step 4" })).toBeVisible();
  await expect(page.getByRole("option", { selected: true })).toContainText("4");
});

test("an address of an unknown line is explained", async ({ ownerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.counterId, input: { to: 2 } });
  for (const [query, words] of [
    ["step=999", "This run has no step 999."],
    ["call=nope", "This run has no model call nope."],
    ["step=1&attempt=7", "This run has no attempt 7 of step 1."],
  ]) {
    await page.goto(`/runs/${id}?${query}`);
    await expect(page.getByText(words ?? "")).toBeVisible();
  }
  await page.getByRole("option").nth(1).click();
  await expect(page.getByText(/^This run has no/)).toHaveCount(0);
});

test("an unknown run shows a not-found page", async ({ ownerPage: page }) => {
  const answer = await page.goto("/runs/nonsense");
  expect(answer?.status()).toBe(404);
  await expect(page.getByText("Run not found")).toBeVisible();
  const unknown = await page.request.get("/runs/01a1fce1-2efc-779d-96d7-58140f1414c7");
  expect(unknown.status()).toBe(404);
  expect(await unknown.text()).toContain("Run not found");
});

test("a child run's steps unfold below its step, and have addresses", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { agent: "Double 21 for me" });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  const outer = timeline.getByRole("option", { name: /^Step 1 ?double/ });
  await outer.click();
  await expect(timeline.getByRole("option")).toHaveCount(3);
  const inspections = /\/api\/trpc\/[^?]*runs\.inspect/;
  await page.route(inspections, (route) => route.abort());
  await page.keyboard.press("ArrowRight");
  await expect(page.getByText("Could not load the child run")).toBeVisible();
  await page.unroute(inspections);
  await page.keyboard.press("ArrowRight");
  const inner = timeline.getByRole("option", { name: /^Step 1\.1 ?doubled calculate/ });
  await inner.click();
  await expect(page).toHaveURL(/step=1\.1$/);
  await expect(page.getByRole("region", { name: "Output of the step" })).toContainText("42");

  await page.reload();
  await expect(inner).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("region", { name: "Output of the step" })).toContainText("42");

  await outer.click();
  await page.getByRole("button", { name: "Hide its steps" }).click();
  await expect(inner).toHaveCount(0);
});

test("a search finds text in all inputs and outputs, and marks it", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  // So few that all rows and their group are drawn.
  const input = { to: 20 };
  const id = await finishRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  await expect(timeline.getByRole("option")).toHaveCount(21);
  await page.keyboard.press("/");
  const find = page.getByRole("searchbox", { name: "Find in this run" });
  await expect(find).toBeFocused();
  // Only one input contains it; no step is named so.
  await page.keyboard.type("/17");
  await expect(page.getByRole("search")).toContainText("1 of 20");
  await page.keyboard.press("Enter");
  await expect(timeline.getByRole("option", { name: /^Step 17/ })).toBeFocused();
  await expect(page).toHaveURL(/step=17$/);

  await find.fill("nowhere to be found");
  await expect(page.getByText(/^Nothing found/)).toBeVisible();
  await find.press("Escape");
  await expect(timeline.getByRole("option")).toHaveCount(21);
});

test("failures, the dearest step and credit costs are one click away", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { agent: "What are 1 / 0 and 6 * 7?" });
  await page.goto(`/runs/${id}`);
  const rows = page.getByRole("listbox", { name: "Timeline" }).getByRole("option");
  const all = await rows.count();
  await page.getByRole("button", { name: "1 failed" }).click();
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("Failed");
  // Outside the text field, keys do the same.
  await page.locator("h1").click();
  await page.keyboard.press("f");
  await expect(rows).toHaveCount(all);

  const idle = page.getByTitle(/^Time without a step or a model call in progress/);
  await expect(idle).toHaveText(/^idle .+ \(\d+%\)$/);
  await page.getByRole("radio", { name: "Credits" }).check({ force: true });
  await expect(rows.first()).toContainText("0.0000");
  await expect(page.getByText(/^actions 0\.0200 \(100%\)$/)).toBeVisible();
  // By time, steps of less than a millisecond have no slowest one.
  await page.getByRole("button", { name: /^most: / }).click();
  await expect(page).toHaveURL(/(step|call)=/);
  await page.keyboard.press("t");
  await expect(page.getByRole("radio", { name: "Time" })).toBeChecked();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys on this page" })).toContainText("failures only");
});

test("a step's items and a model call's steps fold into one line", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const input = { to: 25 };
  const id = await finishRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const rows = page.getByRole("listbox", { name: "Timeline" }).getByRole("option");
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("count×25, 25 items");
  await expect(page.getByRole("region", { name: "Items of count" })).toBeVisible();
  await page.keyboard.press("c");
  await expect(rows).toContainText("0.2500");
  // The selected row is visible.
  await page.getByRole("button", { name: /^most: \d+ count/ }).click();
  await expect(rows.first()).toHaveAttribute("aria-setsize", "26");
  await expect(page).toHaveURL(/step=\d+$/);
  // Collapsing the group of the selected line selects the group.
  await page.keyboard.press("o");
  await expect(rows).toHaveCount(1);
  await expect(rows).toHaveAttribute("aria-selected", "true");
  await expect(page).toHaveURL(/group=count$/);
  // Search results inside collapsed lines are shown.
  await page.keyboard.press("/");
  await page.keyboard.type("/17");
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("count[16]");

  const agent = await finishRun(request, organization, { agent: "What are 1 / 0 and 6 * 7?" });
  await page.goto(`/runs/${agent}`);
  const all = await rows.count();
  await rows.first().click();
  await expect(page).toHaveURL(/call=think-1$/);
  await page.keyboard.press("ArrowLeft");
  await expect(rows.first()).toContainText(/\+1 step, 1 failed/);
  expect(await rows.count()).toBe(all - 1);
  await page.keyboard.press("ArrowRight");
  await expect(rows).toHaveCount(all);
});

test("arrow keys move through the steps, and scroll inside texts", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.counterId, input: { to: 20 } });
  await page.goto(`/runs/${id}`);
  const selected = page.getByRole("option", { selected: true });
  await expect(selected).toContainText("1");
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(/step=2$/);
  await expect(selected).toBeFocused();
  // Each key moves on from the one before, however soon it follows.
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"]) {
    await page.keyboard.press(key);
  }
  await expect(page).toHaveURL(/step=3$/);
  await expect(selected).toBeFocused();

  // Also from a button, but not from a choice or within the texts.
  await page.getByRole("button", { name: "Run again", exact: true }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(/step=4$/);
  await page.getByRole("button", { name: "Copy the output of the step" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("radio", { name: "Time" }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("radio", { name: "Credits" })).toBeChecked();
  await expect(page).toHaveURL(/step=4$/);
});

test("a fact's link that is too long ends with an ellipsis", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await page.setViewportSize({ width: 1280, height: 844 });
  const id = await finishRun(request, organization, { agent: "What is 6 * 7?" });
  await page.goto(`/runs/${id}`);
  const link = page.getByRole("region", { name: "Facts" }).getByRole("link", { name: /^key / });
  const isCut = await link.evaluate((element) => {
    element.textContent = "key of a shop with a long name";
    return element.scrollWidth > element.clientWidth && getComputedStyle(element).textOverflow === "ellipsis";
  });
  expect(isCut).toBe(true);
});
