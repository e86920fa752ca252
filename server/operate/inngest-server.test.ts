import { describe, expect, it } from "vitest";
import { EVENT_KEY, openInTest, SIGNING_KEY, serveInTest } from "@/testing/servers/inngest-server";
import { checkInngestServer, isUsable } from "./inngest-server";

const settings = (baseUrl: string, changes: { eventKey?: string; signingKey?: string } = {}) => ({
  dev: undefined,
  baseUrl,
  eventKey: EVENT_KEY,
  signingKey: SIGNING_KEY,
  serveOrigin: "http://stepwell.test",
  ...changes,
});
const dev = (url: string) => ({ ...settings(url), dev: url, baseUrl: undefined });

describe("a self-hosted server", () => {
  it.each([
    ["as it was made", SIGNING_KEY],
    ["with a prefix", `signkey-prod-${SIGNING_KEY}`],
  ])("takes its own keys, the signing key %s, and no event is sent", async (_how, signingKey) => {
    const { url, events } = await openInTest();
    const report = await checkInngestServer(settings(url, { signingKey }));
    expect(report).toEqual({ address: "ok", eventKey: "ok", signingKey: "ok", texts: [] });
    expect(isUsable(report)).toBe(true);
    expect(events).toEqual([]);
  });

  it("rejects another event key, and that alone is named", async () => {
    const { url } = await openInTest();
    const report = await checkInngestServer(settings(url, { eventKey: "another" }));
    expect(report).toMatchObject({ address: "ok", eventKey: "rejected", signingKey: "ok" });
    expect(report.texts).toEqual([`${url} rejects INNGEST_EVENT_KEY: set the one that it was started with.`]);
    expect(isUsable(report)).toBe(false);
  });

  it("rejects another signing key, and that alone is named", async () => {
    const { url } = await openInTest();
    const report = await checkInngestServer(settings(url, { signingKey: "fedcba" }));
    expect(report).toMatchObject({ address: "ok", eventKey: "ok", signingKey: "rejected" });
    expect(report.texts).toEqual([
      `${url} rejects INNGEST_SIGNING_KEY: set the one that it was started with.`,
    ]);
  });

  it("is not a dev server", async () => {
    const { url } = await openInTest();
    const report = await checkInngestServer(dev(url));
    expect(report).toMatchObject({ address: "wrong", eventKey: "unknown", signingKey: "unknown" });
    expect(report.texts[0]).toContain("is not a dev server: set INNGEST_BASE_URL");
  });
});

describe("a dev server", () => {
  it("takes any keys", async () => {
    const report = await checkInngestServer(dev((await openInTest({ isDev: true })).url));
    expect(report).toEqual({ address: "ok", eventKey: "ok", signingKey: "ok", texts: [] });
  });

  it("is named where a self-hosted one is expected", async () => {
    const { url } = await openInTest({ isDev: true });
    const report = await checkInngestServer(settings(url));
    expect(report.texts).toEqual([
      `${url} is a dev server: set INNGEST_DEV=${url}, and no other INNGEST variable.`,
    ]);
  });
});

describe("an address", () => {
  it("where nothing listens is named, its keys are not judged", async () => {
    const report = await checkInngestServer(settings("http://127.0.0.1:9"));
    expect(report).toMatchObject({ address: "unreachable", eventKey: "unknown", signingKey: "unknown" });
    expect(report.texts).toHaveLength(1);
    expect(report.texts[0]).toMatch(
      /^http:\/\/127\.0\.0\.1:9 does not answer \(.+\): check INNGEST_BASE_URL/,
    );
  });

  it("of another service is named", async () => {
    const url = await serveInTest((_request, response) => response.end("hello"));
    const report = await checkInngestServer(settings(url));
    expect(report).toMatchObject({
      address: "wrong",
      texts: [`${url} is not an Inngest server: check INNGEST_BASE_URL.`],
    });
  });

  it("that accepts calls and never answers times out", async () => {
    const report = await checkInngestServer(settings(await serveInTest(() => {})));
    expect(report.address).toBe("unreachable");
    expect(report.texts[0]).toContain("nothing within 1500 ms");
  });
});
