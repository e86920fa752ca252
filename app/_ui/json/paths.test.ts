import { describe, expect, it } from "vitest";
import { joinPath, searchJson, splitHits } from "./paths";

const order = {
  id: 4711,
  customer: { name: "Grace", city: "Lisbon" },
  lines: [{ sku: "A-1" }, { sku: "B-7" }],
};

describe("a search through a document", () => {
  it("keeps hits and the path to them, nothing else", () => {
    expect([...(searchJson(order, "lisb")?.paths ?? [])].sort()).toEqual(["customer", "customer.city"]);
    expect([...(searchJson(order, "b-7")?.paths ?? [])].sort()).toEqual([
      "lines",
      "lines[1]",
      "lines[1].sku",
    ]);
    expect(searchJson(order, "4711")?.hits).toBe(1);
  });

  it("keeps everything below a matching name", () => {
    expect([...(searchJson(order, "CUSTOMER")?.paths ?? [])].sort()).toEqual([
      "customer",
      "customer.city",
      "customer.name",
    ]);
  });

  it("ignores the case of any letter", () => {
    const streets = { Straße: "Η ΟΔΟΣ", Улица: "İSTİKLAL" };
    const found = (searchText: string) => [...(searchJson(streets, searchText)?.paths ?? [])];
    expect(found("οδος")).toEqual([joinPath("", "Straße", false)]);
    expect(found("istiklal")).toEqual([joinPath("", "Улица", false)]);
    expect(found("УЛИЦА")).toEqual([joinPath("", "Улица", false)]);
  });

  it("stops at 500 hits, and reports that", () => {
    const many = Array.from({ length: 2_000 }, (_, index) => ({ text: `hit ${index}` }));
    expect(searchJson(many, "hit")).toMatchObject({ hits: 500, more: true });
  });

  it("is none without a text", () => {
    expect(searchJson(order, "  ")).toBeNull();
  });
});

describe("a path", () => {
  it.each([
    ["", "id", false, "id"],
    ["customer", "city", false, "customer.city"],
    ["lines", "0", true, "lines[0]"],
    ["headers", "content-type", false, 'headers["content-type"]'],
    ["", 'a"b', false, '["a\\"b"]'],
  ])("from %j to %j", (path, key, isIndex, expected) => {
    expect(joinPath(path, key, isIndex)).toBe(expected);
  });
});

it("splits a text into hits and the rest, without loss", () => {
  expect(splitHits("one two one", /one/u)).toEqual(["", "one", " two ", "one", ""]);
  expect(splitHits("none", /x/u)).toEqual(["none"]);
  const many = "a b ".repeat(1_000);
  expect(splitHits(many, /a/u)).toHaveLength(401);
  expect(splitHits(many, /a/u).join("")).toBe(many);
});
