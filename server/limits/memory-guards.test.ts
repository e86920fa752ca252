import { expect, it } from "vitest";
import { guardKey } from "./memory-guards";

it.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:DB8:0001:2::1", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["unknown", "unknown"],
  ["x".repeat(10_000), "x".repeat(64)],
])("guards count %s under %s", (address, key) => {
  expect(guardKey(address)).toBe(key);
});
