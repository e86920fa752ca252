import { describeEngine } from "@/testing/engine/suite";

/** The engine suite on the embedded engine. */

await describeEngine({
  env: { APP_URL: "http://stepwell.test" },
  serve: () => {},
  close: async () => {},
});
