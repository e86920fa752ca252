import { expect, it } from "vitest";
import { createOpenApiDocument } from "@/server/api/openapi/document";
import { pythonOf } from "@/tools/clients/python";

/** After a change of an endpoint, run `npm run docs:generate`. */

it("has the models and operations of the OpenAPI document", async () => {
  const { models, operations } = pythonOf(createOpenApiDocument("https://stepwell.test"));
  await expect(models).toMatchFileSnapshot("src/stepwell_client/models.py");
  await expect(operations).toMatchFileSnapshot("src/stepwell_client/operations.py");
});
