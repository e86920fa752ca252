import { expect, it } from "vitest";
import { AppError, isCallerError } from "@/server/base/errors";
import { createQueryClient } from "./query-client";

it("the server asks once for what does not exist, so that its page answers 404 immediately", async () => {
  let asked = 0;
  const missing = createQueryClient(isCallerError).fetchQuery({
    queryKey: ["missing"],
    queryFn: () => {
      asked += 1;
      throw new Error("not found", { cause: new AppError("not_found", "There is no such agent.") });
    },
  });
  await expect(missing).rejects.toThrow("not found");
  expect(asked).toBe(1);
});
