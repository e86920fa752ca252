import { afterAll } from "vitest";
import { createServerStage } from "@/testing/engine/server-stage";
import { describeEngine } from "@/testing/engine/suite";
import { InngestServer } from "@/testing/servers/inngest-server";

/**
 * The engine suite on the stand-in, or on a real server at `INNGEST_TEST_URL`, which must reach this machine.
 * Self-hosted servers need INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY; without them it is a dev server.
 */

await describeEngine(await createServerStage(await settings()));

async function settings(): Promise<Record<string, string>> {
  const { INNGEST_TEST_URL: url, INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey } = process.env;
  if (url === undefined || url === "") {
    const server = await InngestServer.open();
    afterAll(() => server.close());
    return server.env;
  }
  return eventKey && signingKey
    ? { INNGEST_BASE_URL: url, INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey }
    : { INNGEST_DEV: url };
}
