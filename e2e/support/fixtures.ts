import { type Browser, type BrowserContext, test as base, type Page, type Response } from "@playwright/test";
import type { AppliedOrganization } from "@/testing/services/service-process";

/** An organization of e2e/support/organization.yaml, with its ids and secrets. */
export type Organization = ReturnType<typeof readApplied>;

type Fixtures = {
  ownerPage: Page;
  freshOwnerPage: Page;
  viewerPage: Page;
};

type Cookies = Awaited<ReturnType<BrowserContext["cookies"]>>;

type WorkerFixtures = {
  /** Each worker has its own, so that runs and lists of workers don't affect each other. */
  organization: Organization;
  ownerCookies: Cookies;
  viewerCookies: Cookies;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  organization: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from this very pattern.
    async ({}, use, { parallelIndex }) => {
      const applied = JSON.parse(process.env.STEPWELL_E2E_APPLIED ?? "")[parallelIndex];
      await use(readApplied(applied, domainOf(parallelIndex)));
    },
    { scope: "worker" },
  ],
  ownerCookies: [
    async ({ browser, organization }, use, { project }) => {
      await use(await cookiesOf(browser, organization.owner, project.use.baseURL));
    },
    { scope: "worker" },
  ],
  viewerCookies: [
    async ({ browser, organization }, use, { project }) => {
      await use(await cookiesOf(browser, organization.viewer, project.use.baseURL));
    },
    { scope: "worker" },
  ],
  // Also the context of `page`.
  context: async ({ context, javaScriptEnabled }, use) => {
    if (javaScriptEnabled !== false) waitForHydrationIn(context);
    await use(context);
  },
  // The page may be that of the test before.
  page: async ({ page, javaScriptEnabled }, use) => {
    if (javaScriptEnabled !== false) waitForHydration(page);
    await use(page);
    // A handler that is still fetching fails the test when it ends.
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
  ownerPage: async ({ page, ownerCookies }, use) => {
    await page.context().addCookies(ownerCookies);
    await use(page);
  },
  viewerPage: async ({ page, viewerCookies }, use) => {
    await page.context().addCookies(viewerCookies);
    await use(page);
  },
  freshOwnerPage: async ({ page, organization }, use) => {
    await openSession(page, organization.owner);
    await use(page);
  },
});

/**
 * The domain of the members' addresses in e2e/support/organization.yaml, and in the copy for one worker (global-setup.ts).
 */
export const DOMAIN = "e2e.test";
export const PASSWORD = "correct-horse-battery";
export const domainOf = (parallelIndex: number) => `e2e-${parallelIndex}.test`;

/** Names what the tests use of an applied organization. `domain` is that of its members' addresses. */
export function readApplied(applied: AppliedOrganization | undefined, domain = DOMAIN) {
  if (!applied) throw new Error("The organization was not applied.");
  const { slug, agents, tools, triggers, callbacks, apiKeys } = applied;
  const toolIds = Object.fromEntries(tools.map((tool) => [tool.slug, tool.id]));
  return {
    slug,
    agentId: idOf(agents, "helper"),
    toolId: idOf(tools, "double"),
    counterId: idOf(tools, "counter"),
    bulkyId: idOf(tools, "bulky"),
    toolIds,
    apiKey: apiKeys[0]?.key ?? "",
    triggers: Object.fromEntries(triggers.map((trigger) => [trigger.slug, trigger.url])),
    triggerIds: Object.fromEntries(triggers.map((trigger) => [trigger.slug, trigger.id])),
    callbackId: idOf(callbacks, "erp"),
    signingSecret: "e2e-signing-secret",
    owner: { email: `ada@${domain}`, password: PASSWORD },
    viewer: { email: `vic@${domain}`, password: PASSWORD },
  };
}

export { expect } from "@playwright/test";

export async function newContext(
  browser: Browser,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<BrowserContext> {
  const { baseURL } = base.info().project.use;
  const context = await browser.newContext({ ...(baseURL === undefined ? {} : { baseURL }), ...options });
  waitForHydrationIn(context);
  return context;
}

function waitForHydrationIn(context: BrowserContext): void {
  const open = context.newPage.bind(context);
  context.newPage = async () => {
    const page = await open();
    waitForHydration(page);
    return page;
  };
}

/** Makes `goto` and `reload` wait for hydration. After a full load by a page's own script, call `untilHydrated`. */
function waitForHydration(page: Page): void {
  for (const name of ["goto", "reload"] as const) {
    const load: (...how: never[]) => Promise<Response | null> = page[name].bind(page);
    Object.assign(page, {
      async [name](...how: never[]) {
        const response = await load(...how);
        await untilHydrated(page);
        return response;
      },
    });
  }
}

/** Waits until React has hydrated the whole page and listens for keys. Until then, the page drops clicks. */
export async function untilHydrated(page: Page): Promise<void> {
  // Not an async function: `waitForFunction` takes whatever its promise resolves to, also false.
  await page.waitForFunction(() => {
    type Fiber = { child: Fiber | null; sibling: Fiber | null; memoizedState: unknown };
    const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
    if (document.querySelector("script[src*='/_next/']") === null) return true;
    const key = Object.keys(document).find((name) => name.startsWith("__reactContainer$"));
    if (key === undefined) return false;
    const root: Fiber = Reflect.get(Reflect.get(Reflect.get(document, key), "stateNode"), "current");
    if (isObject(root.memoizedState) && Reflect.get(root.memoizedState, "isDehydrated")) return false;
    const left = [root.child];
    while (left.length > 0) {
      const fiber = left.pop();
      if (!fiber) continue;
      const { memoizedState: state, child, sibling } = fiber;
      // A boundary that still shows the server's HTML.
      if (isObject(state) && isObject(Reflect.get(state, "dehydrated"))) return false;
      left.push(sibling, child);
    }
    return true;
  });
  // Effects are tasks, and the browser is idle only after the waiting ones. Some live pages are never idle.
  await page.waitForFunction(async () => {
    await new Promise((idle) => requestIdleCallback(idle, { timeout: 2_000 }));
    return true;
  });
}

export async function cookiesOf(
  browser: Browser,
  person: Organization["owner"],
  origin?: string,
): Promise<Cookies> {
  const context = await browser.newContext();
  await openSession(context, person, origin);
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

/** Signs in without opening a page, at the tested service or another one. */
export async function openSession(
  { request }: Pick<BrowserContext, "request">,
  person: Organization["owner"],
  origin = base.info().project.use.baseURL ?? "",
): Promise<void> {
  const response = await request.post(`${origin}/api/sign-in`, {
    form: person,
    headers: { origin },
    maxRedirects: 0,
  });
  if (response.headers()["set-cookie"] === undefined) {
    throw new Error(`${person.email} could not sign in: ${response.headers().location}`);
  }
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
  await untilHydrated(page);
}

function idOf(list: { slug: string; id: string }[], slug: string): string {
  const found = list.find((entry) => entry.slug === slug);
  if (!found) throw new Error(`There is no ${slug} in e2e/support/organization.yaml.`);
  return found.id;
}
