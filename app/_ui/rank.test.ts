import { expect, test } from "vitest";
import { findItems, idIn } from "./rank";

const groups = [
  { name: "Go to", items: [{ label: "Runs" }, { label: "API keys" }, { label: "Triggers" }] },
  {
    name: "Agents",
    items: [
      { label: "Order helper", keywords: "agent orders" },
      { label: "Helper", keywords: "agent helper" },
      { label: "Rerun watcher", keywords: "agent watch-runs" },
    ],
  },
  { name: "Tools", items: [] },
];
const find = (text: string) =>
  findItems(groups, text).map(({ name, items }) => [name, ...items.map(({ label }) => label)]);

test("without a text, lists everything and no empty groups", () => {
  expect(find(" ")).toEqual([
    ["Go to", "Runs", "API keys", "Triggers"],
    ["Agents", "Order helper", "Helper", "Rerun watcher"],
  ]);
});

test("puts the best match first, with its group", () => {
  expect(find("helper")).toEqual([["Agents", "Helper", "Order helper"]]);
  expect(find("run")).toEqual([
    ["Go to", "Runs"],
    ["Agents", "Rerun watcher"],
  ]);
  expect(find("agent ord")[0]).toEqual(["Agents", "Order helper"]);
  expect(find("KEYS")).toEqual([["Go to", "API keys"]]);
});

test("shows the first eight matches of a group, or as many as asked", () => {
  const many = [{ name: "Tools", items: Array.from({ length: 20 }, (_, n) => ({ label: `tool ${n}` })) }];
  expect(findItems(many, "")[0]?.items).toHaveLength(20);
  expect(findItems(many, "tool")[0]?.items).toHaveLength(8);
  expect(findItems(many, "tool", Number.POSITIVE_INFINITY)[0]?.items).toHaveLength(20);
});

test("requires every typed word to match", () => {
  expect(find("order keys")).toEqual([]);
});

test("finds an id alone and inside an address", () => {
  const id = "0193c4aa-2efc-779d-96d7-58140f1414c7";
  expect(idIn(` ${id.toUpperCase()}\n`)).toBe(id);
  expect(idIn(`https://stepwell.test/runs/${id}?step=1`)).toBe(id);
  expect(idIn("0193c4aa")).toBeNull();
});
