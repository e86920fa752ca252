import { expect, test } from "vitest";
import { createOpenApiDocument } from "@/server/api/openapi/document";
import { ENDPOINTS } from "@/server/api/v1/endpoints";
import { readOperations } from "./read-document";

const operations = readOperations(createOpenApiDocument("https://stepwell.test"));
const ENDPOINTS_BY_ID = new Map(Object.values(ENDPOINTS).map((each) => [each.operationId, each]));
const operationOf = (id: string) => operations.find((each) => each.id === id);

test("every operation has words, examples and errors", () => {
  expect(operations).toHaveLength(ENDPOINTS_BY_ID.size + 1);
  for (const operation of operations) {
    expect(operation.description.length).toBeGreaterThan(20);
    // A stream of events has no fields.
    const declared = ENDPOINTS_BY_ID.get(operation.id);
    expect(operation.response.fields.length > 0).toBe(declared?.answers !== "events");
    expect(operation.response.example).not.toBe("{}");
    expect(operation.errors.every(({ description }) => description !== "")).toBe(true);
    expect(operation.body === null).toBe(declared !== undefined && declared.body === undefined);
  }
});

test("references, nested fields and types are shown", () => {
  const details = operationOf("getAgentRunDetails");
  const fieldOf = (name: string) => details?.response.fields.find((field) => field.name === name);
  expect(fieldOf("status")).toMatchObject({
    type: '"Pending" | "Running" | "Completed" | "Failed" | "Cancelled"',
    required: true,
    description: expect.stringContaining("terminal"),
  });
  expect(fieldOf("id")?.type).toBe("string (uuid)");
  expect(fieldOf("steps")?.type).toBe("list of object");
  expect(fieldOf("steps[].tokenUsage.inputTokens")?.type).toBe("integer");
});

test("the webhook needs no key, and parameters say where they are", () => {
  expect(operations.filter(({ keyed }) => !keyed).map(({ id }) => id)).toEqual(["receiveWebhook"]);
  expect(operationOf("runAgent")?.parameters).toMatchObject([
    ...["Idempotency-Key", "X-Metadata", "X-Max-Credits", "X-Deadline-Seconds", "X-Callback-Url"].map(
      (name) => ({
        name,
        in: "header",
        required: false,
      }),
    ),
    { name: "agentId", in: "path", required: true },
  ]);
});
