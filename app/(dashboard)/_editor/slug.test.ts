import { expect, it } from "vitest";
import { slug } from "@/server/catalog/definitions";
import { slugOf } from "./slug";

it.each([
  ["Order desk", "order-desk"],
  ["  Überprüfung: Straße 7! ", "uberprufung-stra-e-7"],
  ["注文", ""],
  [`${"a".repeat(63)} b`, "a".repeat(63)],
])("%s becomes %s", (name, expected) => {
  expect(slugOf(name)).toBe(expected);
  if (expected !== "") expect(slug.safeParse(expected).success).toBe(true);
});
