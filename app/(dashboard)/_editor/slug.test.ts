import { expect, it } from "vitest";
import { slug } from "@/server/catalog/definitions";
import { copyName, rename } from "./slug";

it.each([
  ["Order desk", "order-desk"],
  ["  Überprüfung: Straße 7! ", "uberprufung-stra-e-7"],
  ["注文", ""],
  [`${"a".repeat(63)} b`, "a".repeat(63)],
])("%s becomes %s", (name, expected) => {
  expect(rename({ slug: "", name: "" }, name)).toEqual({ name, slug: expected });
  if (expected !== "") expect(slug.safeParse(expected).success).toBe(true);
});

it("a slug that was changed by hand stays", () => {
  expect(rename({ slug: "desk", name: "Order desk" }, "Orders")).toEqual({ slug: "desk", name: "Orders" });
});

it.each(["desk", "d".repeat(64), `${"d".repeat(58)}-esk`])(
  "a copy of %s has a valid slug and name",
  (text) => {
    const copy = copyName({ slug: text, name: text.padEnd(200, "n") });
    expect(slug.safeParse(copy.slug).success).toBe(true);
    expect(copy.slug).not.toBe(text);
    expect(copy.name.length).toBeLessThanOrEqual(200);
  },
);
