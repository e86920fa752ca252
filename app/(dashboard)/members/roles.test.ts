import { expect, test } from "vitest";
import type { MemberRole } from "@/server/base/actor";
import { rejectionFor } from "./roles";

const line = (role: MemberRole) => ({
  userId: "u",
  name: "N",
  email: "n@example.test",
  role,
  joinedAt: "2026-01-01T00:00:00Z",
  self: false,
});

test("owners are changed by owners only, and the last one stays", () => {
  expect(rejectionFor(line("admin"), { isOwner: false, owners: 1 })).toBeNull();
  expect(rejectionFor(line("owner"), { isOwner: false, owners: 2 })).toContain("Only an owner");
  expect(rejectionFor(line("owner"), { isOwner: true, owners: 1 })).toContain("last owner");
  expect(rejectionFor(line("owner"), { isOwner: true, owners: 2 })).toBeNull();
});
