import { expect, test } from "vitest";
import * as database from "@/server/base/db/generated/enums";
import * as enums from "./enums";

test.each([
  [enums.RUN_KINDS, database.RunKind],
  [enums.DEFINITION_STATUSES, database.AgentStatus],
  [enums.RUN_STATUSES, database.RunStatus],
  [enums.STEP_STATUSES, database.StepStatus],
  [enums.RUN_SOURCES, database.RunSource],
  [enums.FORK_MODES, database.ForkMode],
  [["all", ...enums.METRICS_DIMENSIONS], database.RunCountDimension],
  [[...enums.OPEN_STATUSES, ...enums.ENDED_STATUSES], database.RunStatus],
  [enums.CREDIT_ENTRY_KINDS, database.CreditEntryKind],
  [enums.DELIVERY_OUTCOMES, database.DeliveryOutcome],
  [enums.OVERLAP_POLICIES, database.OverlapPolicy],
  [enums.TICK_OUTCOMES, database.TickOutcome],
])("%s equals the database's enum", (values, stored) => {
  expect([...values]).toEqual(Object.values(stored));
});
