import { describeEngine } from "@/testing/engine/suite";

await describeEngine({
  env: { APP_URL: "http://stepwell.test" },
  serve: () => {},
  close: async () => {},
});
