import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { registerProcess } from "@/serve/prepare";
import { HOUR_MS } from "@/server/base/clock";
import { createProcess } from "@/testing/process";
import { openWorld } from "@/testing/world";
import { connect } from "./client";
import { createFunctions, DROP_AFTER_DAYS, dropUnusedFunctions } from "./create-functions";
import { nameFunctions, sqlFunctions, withFunctionNames } from "./functions";

const world = await openWorld();
const names = sqlFunctions().map(({ name }) => name);
const FOLDER = "prisma/functions";

async function functionsInDatabase() {
  const { rows } = await world.pool.query<{ name: string; body: string }>(
    "SELECT proname AS name, prosrc AS body FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
  );
  return rows;
}

it("the database has the function of each file, with its text, and no other with a hash", async () => {
  const found = await functionsInDatabase();
  expect(names.map((name) => name.replace(/_[0-9a-f]{8}$/, "")).sort()).toEqual(
    readdirSync(FOLDER)
      .map((file) => file.replace(/\.sql$/, ""))
      .sort(),
  );
  for (const { name, text } of sqlFunctions()) {
    expect(text).toContain(found.find((one) => one.name === name)?.body ?? "no such function");
  }
  const hashed = found.map(({ name }) => name).filter((name) => /_[0-9a-f]{8}$/.test(name));
  expect(hashed.sort()).toEqual([...names].sort());
});

it("lists the columns that the tables have, so that a new column needs no change of a function", async () => {
  const created = nameFunctions({ f: "CREATE FUNCTION f() {{steps}};{{model_calls}}" }).get("f")?.text;
  const { rows } = await world.pool.query(
    `SELECT string_agg(attname, ', ' ORDER BY attname) AS columns FROM pg_attribute
     WHERE attrelid = ANY(ARRAY['steps', 'model_calls']::regclass[]) AND attnum > 0 AND NOT attisdropped
     GROUP BY attrelid ORDER BY attrelid::regclass::text DESC`,
  );
  const lists = created?.replace(/^.*\) /, "").split(";") ?? [];
  expect(lists.map((list) => list.split(", ").sort().join(", "))).toEqual(rows.map(({ columns }) => columns));
});

it("a changed function gets another name, and so do those that call it; the earlier ones stay", async () => {
  const text = (result: number) => ({
    caller: "CREATE FUNCTION caller() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN called() + 1; END $$",
    called: `CREATE FUNCTION called() RETURNS int LANGUAGE sql AS $$ SELECT ${result} $$`,
  });
  const [older, newer] = [nameFunctions(text(1)), nameFunctions(text(2))];
  const client = await connect(world.env.databaseUrl);
  for (const functions of [older, newer, older]) await createFunctions(client, [...functions.values()]);
  for (const [functions, result] of [
    [older, 2],
    [newer, 3],
  ] as const) {
    const { rows } = await client.query(`SELECT ${functions.get("caller")?.name}() AS result`);
    expect(rows).toEqual([{ result }]);
  }
  await client.end();
});

it("rejects functions that call each other", () => {
  const files = { a: "CREATE FUNCTION a() b()", b: "CREATE FUNCTION b() a()" };
  expect(() => nameFunctions(files)).toThrow("SQL functions call each other: a, b");
});

it("names only calls in a statement", () => {
  expect(
    withFunctionNames("SELECT take_rate, x.take_rate(1), my_take_rate(1) FROM take_rate(1) take_rate"),
  ).toBe(
    `SELECT take_rate, x.take_rate(1), my_take_rate(1) FROM ${names.find((name) => name.startsWith("take_rate"))}(1) take_rate`,
  );
});

it("drops functions that no process has used for a week, and keeps this release's", async () => {
  const client = await connect(world.env.databaseUrl);
  const old = nameFunctions({ old: "CREATE FUNCTION old() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$" });
  await createFunctions(client, [...old.values()]);
  await client.end();
  const name = old.get("old")?.name ?? "";
  expect(await dropUnusedFunctions(world)).toEqual([]);
  const now = world.clock.now().getTime();
  await world.pool.query("UPDATE sql_functions SET used_at = $1", [
    new Date(now - DROP_AFTER_DAYS * 86_400_000 - 1),
  ]);
  expect(await dropUnusedFunctions(world)).toContain(name);
  const left = (await functionsInDatabase()).map((one) => one.name);
  expect(left).toEqual(expect.arrayContaining(names));
  expect(left).not.toContain(name);
});

it("a process without maintenance jobs keeps the functions that it uses", async () => {
  const web = createProcess(world, { env: { STEPWELL_ROLE: "web" } });
  vi.useFakeTimers({ toFake: ["setInterval"] });
  try {
    registerProcess(web);
    await world.pool.query("UPDATE sql_functions SET used_at = 'epoch'");
    vi.advanceTimersByTime(HOUR_MS);
  } finally {
    vi.useRealTimers();
  }
  const stale = async () =>
    (await world.pool.query("SELECT FROM sql_functions WHERE used_at = 'epoch' AND name = ANY($1)", [names]))
      .rowCount;
  await expect.poll(stale).toBe(0);
  await web.stop();
});
