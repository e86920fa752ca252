import { startThrowawayService } from "@/testing/services/throwaway-service";
import { test } from "../support/fixtures";
import { expectShortWaits } from "../support/short-waits";

test("no request lets others wait, whatever its headers and target", { tag: "@long" }, async () => {
  test.setTimeout(600_000);
  // No other test uses it.
  const service = await startThrowawayService({ quiet: true });
  try {
    await expectShortWaits(service.base, { thorough: true });
  } finally {
    await service.remove();
  }
});
