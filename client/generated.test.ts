import { expect, it } from "vitest";
import { createOpenApiDocument } from "@/server/api/openapi/document";
import { operationsOfDocument, typesOfDocument } from "@/tools/clients/typescript";

/** After a change of an endpoint, run `npm run docs:generate`. */

const document = createOpenApiDocument("https://stepwell.test");

it("has the types of the OpenAPI document", async () => {
  await expect(await typesOfDocument(document)).toMatchFileSnapshot("src/schema.ts");
});

it("has the operations of the OpenAPI document", async () => {
  await expect(operationsOfDocument(document)).toMatchFileSnapshot("src/operations.ts");
});
