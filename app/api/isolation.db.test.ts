import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { GET as followRun } from "@/app/api/live/runs/[runId]/route";
import { GET as followRuns } from "@/app/api/live/runs/route";
import { GET as download } from "@/app/api/runs/[runId]/download/route";
import { GET as readText } from "@/app/api/runs/[runId]/text/route";
import { GET as exportRuns } from "@/app/api/runs/export/route";
import { GET as callProcedures } from "@/app/api/trpc/[trpc]/route";
import { newId } from "@/server/base/ids";
import { ORGANIZATION_HEADER, ORGANIZATION_PARAM, pageOf } from "@/server/contract/page-organization";
import { notifyRunChanged } from "@/server/runs/run-changes";
import { createMember, insertRun } from "@/testing/runs";
import { signInCookie, TEST_ORIGIN } from "@/testing/sign-in";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

/**
 * Tenant isolation of every route handler. The tables must name each `route.ts`, so a new route fails this test
 * until it is added.
 */

type Mine = { runId: string; stepId: string };

const world = await openWorld();
vi.stubGlobal("stepwellServices", world);
const own = await createTenant(world);
const other = await createTenant(world);
const insert = async (tenant: Tenant, word: string): Promise<Mine> => {
  const runId = await insertRun(world, tenant, { steps: 1, input: `"${word}"` });
  const step = await world.db.step.findFirstOrThrow({ where: { runId } });
  return { runId, stepId: step.id };
};
const mine = await insert(own, "ours");
const theirs = await insert(other, "theirs");
// The role with the fewest permissions.
const viewer = await createMember(world, own, "viewer");
const cookie = await signInCookie(world, viewer);
/** Of another organization, and of another person. */
const OTHER_PAGES = [pageOf({ ...viewer, orgId: other.orgId }), pageOf({ ...viewer, userId: newId() })];

type Call = (headers: Record<string, string>, of: Mine) => Promise<Response>;

const shown = "page-organization";
/** The header `shown` becomes the parameter that names the page's organization. */
const ask = (path: string, { [shown]: id = "", ...headers }: Record<string, string>) => {
  const url = new URL(path, TEST_ORIGIN);
  if (id !== "") url.searchParams.set(ORGANIZATION_PARAM, id);
  return new Request(url, { headers });
};
const of = (runId: string) => ({ params: Promise.resolve({ runId }) });

const OF_ONE_RUN: Record<string, Call> = {
  "live/runs/[runId]": (headers, { runId }) => followRun(ask(`/api/live/runs/${runId}`, headers), of(runId)),
  "runs/[runId]/download": (headers, { runId }) =>
    download(ask(`/api/runs/${runId}/download`, headers), of(runId)),
  "runs/[runId]/text": (headers, { runId, stepId }) =>
    readText(ask(`/api/runs/${runId}/text?field=input&step=${stepId}`, headers), of(runId)),
};

const OF_ALL_RUNS: Record<string, { call: Call; shows: (response: Response) => Promise<string> }> = {
  "runs/export": {
    call: (headers) => exportRuns(ask("/api/runs/export?format=json", headers)),
    shows: (response) => response.text(),
  },
  "live/runs": { call: (headers) => followRuns(ask("/api/live/runs", headers)), shows: readChanges },
};

const ELSEWHERE: Record<string, string> = {
  "auth/[...all]": "signing in and out: better-auth's own routes, open to everyone",
  "sign-in": "signing in without scripts",
  "set-up/read": "app/api/set-up/set-up.db.test.ts",
  "set-up/use": "app/api/set-up/set-up.db.test.ts",
  "password/request": "app/api/password/password.db.test.ts",
  "password/read": "app/api/password/password.db.test.ts",
  "password/use": "app/api/password/password.db.test.ts",
  "invitations/read": "app/api/invitations/invitations.db.test.ts",
  "invitations/accept": "app/api/invitations/invitations.db.test.ts",
  inngest: "Inngest's signed calls, which name no organization",
  health: "whether the process is alive",
  metrics: "figures for the operator's scraper, without names of organizations: serve/metrics.db.test.ts",
  ready: "whether the process can serve: names of its parts, no data",
  "trpc/[trpc]": "server/api/dashboard/isolation.db.test.ts",
};

async function readChanges(response: Response): Promise<string> {
  const other = await world.db.run.findUniqueOrThrow({ where: { id: theirs.runId } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(mine.runId)) {
    // Until the connection listens, notifications are lost; the stream sends its current state every second.
    notifyRunChanged(world, { orgId: other.organizationId, id: theirs.runId }, 1);
    notifyRunChanged(world, { orgId: own.orgId, id: mine.runId }, 1);
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error("The stream ended.");
    text += value;
  }
  await reader?.cancel();
  return text;
}

async function codeOf(response: Response): Promise<unknown> {
  const body: { success?: unknown; code?: unknown } = await response.json();
  expect(body.success).toBe(false);
  return body.code;
}

describe("every route of the app", () => {
  it("is listed in a table of this test", () => {
    const routes = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
      .filter((path) => /[\\/]route\.ts$/.test(path))
      .map((path) => dirname(path).replaceAll("\\", "/"));
    const named = [OF_ONE_RUN, OF_ALL_RUNS, ELSEWHERE].flatMap((table) => Object.keys(table));
    expect(named.sort()).toEqual(routes.sort());
  });

  it.each(Object.entries(OF_ONE_RUN))(
    "%s shows a run only to members of its organization",
    async (_, call) => {
      const stranger = await call({}, mine);
      expect([stranger.status, await codeOf(stranger)]).toEqual([401, "unauthenticated"]);
      const withKey = await call({ "x-api-key": own.key, authorization: `Bearer ${own.key}` }, mine);
      expect(withKey.status).toBe(401);
      const foreign = await call({ cookie }, theirs);
      expect([foreign.status, await codeOf(foreign)]).toEqual([404, "not_found"]);
      const malformed = await call({ cookie }, { runId: "none", stepId: "none" });
      expect([malformed.status, await codeOf(malformed)]).toEqual([404, "not_found"]);
      const answer = await call({ cookie }, mine);
      expect(answer.status).toBe(200);
      await answer.body?.cancel();
    },
  );

  it.each(Object.entries(OF_ALL_RUNS))(
    "%s shows only the organization's own runs",
    async (_, { call, shows }) => {
      const stranger = await call({}, mine);
      expect([stranger.status, await codeOf(stranger)]).toEqual([401, "unauthenticated"]);
      const answer = await call({ cookie }, mine);
      expect(answer.status).toBe(200);
      const shown = await shows(answer);
      expect(shown).toContain(mine.runId);
      expect(shown).not.toContain(theirs.runId);
    },
  );

  const all = { ...OF_ONE_RUN, ...OF_ALL_RUNS };
  it.each(Object.entries(all))(
    "%s answers only pages of the session's organization and person",
    async (_, route) => {
      const call: Call = typeof route === "function" ? route : route.call;
      for (const page of OTHER_PAGES) {
        const moved = await call({ cookie, [shown]: page }, mine);
        expect([moved.status, await codeOf(moved)]).toEqual([409, "conflict"]);
        expect(moved.headers.get(ORGANIZATION_HEADER)).toBe(own.orgId);
      }
      const answer = await call({ cookie, [shown]: pageOf(viewer) }, mine);
      expect([answer.status, answer.headers.get(ORGANIZATION_HEADER)]).toEqual([200, null]);
      await answer.body?.cancel();
    },
  );

  it("the dashboard's procedures answer only pages of the session's organization and person", async () => {
    const call = (procedures: string, organization: string | null) => {
      const headers = { cookie, ...(organization === null ? {} : { [ORGANIZATION_HEADER]: organization }) };
      return callProcedures(
        new Request(`${TEST_ORIGIN}/api/trpc/${procedures}?batch=1&input=%7B%7D`, { headers }),
      );
    };
    for (const procedures of ["account.organizations", "account.organizations,catalog.keys"]) {
      for (const page of OTHER_PAGES) {
        const moved = await call(procedures, page);
        expect([moved.status, moved.headers.get(ORGANIZATION_HEADER)]).toEqual([409, own.orgId]);
        expect(await moved.text()).not.toContain("result");
      }
      for (const organization of [pageOf(viewer), null]) {
        const answer = await call(procedures, organization);
        expect([answer.status, answer.headers.get(ORGANIZATION_HEADER)]).toEqual([200, null]);
      }
    }
  });

  it("shows no text of another organization's or another run's step", async () => {
    for (const stepId of [theirs.stepId, "none"]) {
      const answer = await OF_ONE_RUN["runs/[runId]/text"]?.({ cookie }, { runId: mine.runId, stepId });
      expect(answer?.status).toBe(404);
    }
    const another = await insertRun(world, own, {});
    const answer = await OF_ONE_RUN["runs/[runId]/text"]?.(
      { cookie },
      { runId: another, stepId: mine.stepId },
    );
    expect(answer?.status).toBe(404);
  });
});
