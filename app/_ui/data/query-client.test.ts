import { onlineManager } from "@tanstack/react-query";
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

it("asks and acts although the browser says that it is offline", async () => {
  onlineManager.setOnline(false);
  try {
    const client = createQueryClient();
    expect(await client.fetchQuery({ queryKey: ["read"], queryFn: () => "read" })).toBe("read");
    const act = client.getMutationCache().build<string, Error, void, unknown>(client, {
      mutationFn: async () => "done",
    });
    expect(await act.execute()).toBe("done");
  } finally {
    onlineManager.setOnline(true);
  }
});
