import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, it } from "vitest";
import { createOpenApiDocument } from "./openapi";

const document = createOpenApiDocument("https://stepwell.test");

it("lists the contract's seven paths and the cancels, with APP_URL as its server", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.servers).toEqual([{ url: "https://stepwell.test" }]);
  expect(
    Object.entries(document.paths ?? {})
      .map(([path, item]) => `${Object.keys(item).join()} ${path}`)
      .sort(),
  ).toEqual([
    "get /v1/agents/run/{agentRunId}/details",
    "get /v1/agents/run/{agentRunId}/status",
    "get /v1/tools/run/{toolRunId}/result",
    "get /v1/tools/run/{toolRunId}/status",
    "post /v1/agents/run/{agentId}",
    "post /v1/agents/run/{agentRunId}/cancel",
    "post /v1/tools/run/{toolId}",
    "post /v1/tools/run/{toolRunId}/cancel",
    "post /webhooks/{token}",
  ]);
});

it("describes a tool's input as a free-form, optional object", () => {
  const body = document.paths?.["/v1/tools/run/{toolId}"]?.post?.requestBody;
  expect(body).toMatchObject({ required: false });
  expect(document.components?.schemas?.ToolInput).toMatchObject({ type: "object" });
});

it("has no error by Redocly's recommended rules", async () => {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  const errors = problems.filter(({ severity }) => severity === "error");
  expect(errors.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  expect(problems.map(({ ruleId, message }) => [ruleId, message])).toEqual([]);
});
