import { expectAccessible } from "../support/axe";
import { expect, test } from "../support/fixtures";

test("a link to something unknown shows a not-found page within the frame", async ({ ownerPage: page }) => {
  await page.goto("/agents");
  const unknown = "01a1fce1-2efc-779d-96d7-58140f1414c7";
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox")).toBeFocused();
  await page.keyboard.insertText(unknown);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/runs/${unknown}`);
  await expect(page.getByText("Run not found")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await page.getByRole("link", { name: "Go to runs" }).click();
  await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
});

test("unknown pages answer 404", async ({ ownerPage: page }) => {
  for (const kind of ["agent", "tool", "trigger"]) {
    const words = new RegExp(`${kind} not found`, "i");
    const answer = await page.goto(`/${kind}s/nonsense`);
    expect(answer?.status()).toBe(404);
    await expect(page.getByText(words)).toBeVisible();
    const unknown = await page.request.get(`/${kind}s/01a1fce1-2efc-779d-96d7-58140f1414c7`);
    expect(unknown.status()).toBe(404);
    expect(await unknown.text()).toMatch(words);
  }
});

test("each page leads to the guide that helps there, and guides to each other", async ({
  ownerPage: page,
}) => {
  await page.goto("/triggers");
  await page.getByRole("link", { name: "Docs", exact: true }).click();
  await expect(page).toHaveURL("/docs/webhooks");
  await expect(page.getByRole("heading", { level: 1, name: "Webhooks" })).toBeVisible();
  await expect(page.getByRole("heading", { level: 2, name: "Sign a call" })).toBeVisible();
  await page.getByRole("navigation", { name: "Guides" }).getByRole("link", { name: "Secrets" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  await expect(page).toHaveTitle(/Docs/);
  await expectAccessible(page, "a guide");
  const unknown = await page.request.get("/docs/engine");
  expect(unknown.status()).toBe(404);
});
