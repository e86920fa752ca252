import { type BrowserContext, test as base, type Page } from "@playwright/test";
import { z } from "zod";

const applied = z.object({
  organizations: z.tuple([
    z.object({
      id: z.string(),
      agents: z.array(z.object({ slug: z.string(), id: z.string() })),
      tools: z.array(z.object({ slug: z.string(), id: z.string() })),
      triggers: z.array(z.object({ slug: z.string(), id: z.string(), token: z.string(), url: z.string() })),
      apiKeys: z.array(z.object({ name: z.string(), key: z.string() })),
    }),
  ]),
});

/** The organization of e2e/organization.yaml, with its ids and secrets. */
export type Organization = {
  agentId: string;
  toolId: string;
  /** A tool that takes `{ to }` and makes that many steps, one after the other. */
  counterId: string;
  toolIds: Record<string, string>;
  /** A tool of 500 steps, some with long outputs. */
  bulkyId: string;
  apiKey: string;
  triggers: Record<string, string>;
  triggerIds: Record<string, string>;
  /** Signs calls of the trigger `doubles`. */
  signingSecret: string;
  owner: { email: string; password: string };
  viewer: { email: string; password: string };
};

type Fixtures = {
  /** A page with the organization owner signed in; the worker's tests share its session. */
  ownerPage: Page;
  /** The same with its own session, for tests that end it. */
  freshOwnerPage: Page;
};

type WorkerFixtures = {
  organization: Organization;
  ownerCookies: Awaited<ReturnType<BrowserContext["cookies"]>>;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  organization: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from this very pattern.
    async ({}, use) => {
      await use(readApplied(process.env.STEPWELL_E2E_APPLIED ?? ""));
    },
    { scope: "worker" },
  ],
  ownerCookies: [
    async ({ browser, organization }, use, worker) => {
      const { baseURL } = worker.project.use;
      const page = await browser.newPage(baseURL === undefined ? {} : { baseURL });
      await signIn(page, organization.owner);
      await use(await page.context().cookies());
      await page.close();
    },
    { scope: "worker" },
  ],
  page: async ({ page, javaScriptEnabled }, use) => {
    const goTo = page.goto.bind(page);
    page.goto = async (...where) => {
      const response = await goTo(...where);
      if (javaScriptEnabled !== false) await untilHydrated(page);
      return response;
    };
    await use(page);
  },
  ownerPage: async ({ page, ownerCookies }, use) => {
    await page.context().addCookies(ownerCookies);
    await use(page);
  },
  freshOwnerPage: async ({ page, organization }, use) => {
    await signIn(page, organization.owner);
    await use(page);
  },
});

/** Reads the output of `apply --json` for e2e/organization.yaml. */
export function readApplied(text: string): Organization {
  const [found] = applied.parse(JSON.parse(text)).organizations;
  return {
    agentId: idOf(found.agents, "helper"),
    toolId: idOf(found.tools, "double"),
    counterId: idOf(found.tools, "counter"),
    bulkyId: idOf(found.tools, "bulky"),
    toolIds: Object.fromEntries(found.tools.map(({ slug, id }) => [slug, id])),
    apiKey: found.apiKeys[0]?.key ?? "",
    triggers: Object.fromEntries(found.triggers.map(({ slug, url }) => [slug, url])),
    triggerIds: Object.fromEntries(found.triggers.map(({ slug, id }) => [slug, id])),
    signingSecret: "e2e-signing-secret",
    owner: { email: "ada@e2e.test", password: "correct-horse-battery" },
    viewer: { email: "vic@e2e.test", password: "correct-horse-battery" },
  };
}

export { expect } from "@playwright/test";

/** Waits until React has hydrated every button, because an earlier click is lost. */
async function untilHydrated(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    Array.from(document.querySelectorAll("button")).every((button) =>
      Object.keys(button).some((key) => key.startsWith("__reactProps$")),
    ),
  );
}

/** Signs in through the form, at the tested service or another one. */
export async function signIn(
  page: Page,
  { email, password }: Organization["owner"],
  origin = "",
): Promise<void> {
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
}

function idOf(list: { slug: string; id: string }[], slug: string): string {
  const found = list.find((entry) => entry.slug === slug);
  if (!found) throw new Error(`There is no ${slug} in e2e/organization.yaml.`);
  return found.id;
}
