import { expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "./endpoint";
import { createRouteFinder } from "./route";

const at = (method: "GET" | "POST", path: `/v1/${string}`) =>
  endpoint({
    method,
    path,
    operationId: path,
    tag: "Agents",
    summary: "",
    description: "",
    successDescription: "",
    scope: "runs:read",
    answers: "plain",
    input: z.object({}),
    answer: z.object({}),
    example: { response: {} },
    run: async () => ({}),
  });

const findRoute = createRouteFinder({
  run: at("POST", "/v1/agents/run/{agentId}"),
  read: at("GET", "/v1/agents/{agentId}"),
  change: at("POST", "/v1/agents/{agentId}"),
  version: at("GET", "/v1/agents/{agentId}/versions/{version}"),
});
const found = (method: string, path: string) => {
  const { route, params } = findRoute({ method, path });
  return [route.procedure, params];
};

test("a path has any number of parameters, decoded", () => {
  expect(found("GET", "/v1/agents/a%20b/versions/2")).toEqual(["version", { agentId: "a b", version: "2" }]);
  expect(found("GET", "/v1/agents/%zz")).toEqual(["read", { agentId: "%zz" }]);
});

test("a literal segment takes precedence over a parameter", () => {
  expect(found("POST", "/v1/agents/run/1")).toEqual(["run", { agentId: "1" }]);
  for (const path of [
    "/v1/agents/run",
    "/v1/agents/run/versions/2",
    "/v1/agents/",
    "/v1/agents//versions/2",
  ]) {
    expect(() => found("GET", path)).toThrow("There is nothing at this path.");
  }
});

test("a wrong method names those of the path", () => {
  expect(() => found("PUT", "/v1/agents/1")).toThrow("This path takes GET, POST.");
  expect(() => found("GET", "/v1/agents/run/1")).toThrow("This path takes POST.");
});
