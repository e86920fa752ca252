import { isJsonObject, type JsonObject } from "@/server/base/json/json";

/** Deeper properties are left out, so that the sample stays readable. */
const MAX_DEPTH = 4;

/**
 * A small sample body for a message template: the properties that its expressions name, such as `body.order.id`. Without
 * any, a message.
 */
export function exampleForTemplate(template: string): JsonObject {
  const body: JsonObject = {};
  for (const [, expression = ""] of template.matchAll(/\{\{([^{}]*)\}\}/g)) {
    for (const [, path = ""] of expression.matchAll(/\bbody((?:\.[A-Za-z]\w*)+)/g)) {
      const names = path.slice(1).split(".");
      setText(body, names.slice(0, MAX_DEPTH));
    }
  }
  return Object.keys(body).length > 0 ? body : { message: "Hello" };
}

function setText(object: JsonObject, [name = "", ...rest]: string[]): void {
  const known = Object.hasOwn(object, name) ? object[name] : undefined;
  if (rest.length === 0) object[name] = known ?? "text";
  else {
    const inner = isJsonObject(known) ? known : {};
    object[name] = inner;
    setText(inner, rest);
  }
}
