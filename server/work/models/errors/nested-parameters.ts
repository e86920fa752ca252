import { isJsonObject } from "@/server/base/json/json";

/** Gives the members of the objects with these names parameters of their own, such as `reasoning.effort`. */
export const flattenParameters = (
  parameters: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]): [string, unknown][] =>
      names.includes(name) && isJsonObject(value)
        ? Object.entries(value).map(([member, each]) => [`${name}.${member}`, each])
        : [[name, value]],
    ),
  );

/** Puts the members back where they belong. */
export function nestParameters(
  parameters: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const nested: Record<string, unknown> = {};
  const objects = new Map<string, Record<string, unknown>>();
  for (const [key, value] of Object.entries(parameters)) {
    const name = names.find((each) => key.startsWith(`${each}.`));
    if (name === undefined) {
      nested[key] = value;
      continue;
    }
    const object = objects.get(name) ?? {};
    object[key.slice(name.length + 1)] = value;
    objects.set(name, object);
  }
  return { ...nested, ...Object.fromEntries(objects) };
}
