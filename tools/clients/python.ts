import { z } from "zod";
import { type OpenApiDocument, operationsOf } from "./operations";
import { PythonTypes, pythonName, quote, schemaOf } from "./python-types";

/** The generated files of `client-python/`. */

const NOTICE = '"""Generated from the OpenAPI document by `npm run docs:generate`."""\n';

const parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean().optional(),
  schema: z.unknown().optional(),
});
const json = z.object({ content: z.object({ "application/json": z.object({ schema: z.unknown() }) }) });

const isFamily = (name: string) => name.endsWith(".KEY");
const familyOf = (name: string) => name.replace(/\.KEY$/, "");

/** The files `models.py` and `operations.py`. */
export function pythonOf(document: OpenApiDocument): { models: string; operations: string } {
  const types = new PythonTypes();
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    types.declare(name, schemaOf(schema));
  }
  const methods = operationsOf(document).flatMap(({ id, method, path, repeat, texts, declared }) => {
    const { summary = "", parameters = [], requestBody, responses } = declared;
    const success = json.safeParse(responses?.["200"]);
    // The handles of runs read events.
    if (!success.success) return [];
    const given = parameters
      .map((each) => parameter.parse(each))
      .filter(({ name }) => name !== "If-None-Match");
    const body = requestBody === undefined ? undefined : json.parse(requestBody).content["application/json"];
    const isRequired =
      requestBody !== undefined && "required" in requestBody && requestBody.required === true;
    const inPath = given.filter((each) => each.in === "path");
    const others = given.filter((each) => each.in !== "path");
    const typeOf = (schema: unknown, name: string) =>
      types.use(schemaOf(schema), `${id[0]?.toUpperCase()}${id.slice(1)}${name}`, "models.");
    const bodyType = body === undefined ? "" : typeOf(body.schema, "Body");
    const answer = typeOf(success.data.content["application/json"].schema, "Answer");
    const signature = [
      "self",
      ...inPath.map(({ name }) => `${pythonName(name)}: str`),
      ...(body === undefined ? [] : [`body: ${bodyType}${isRequired ? "" : " | None = None"}`]),
      ...(others.length === 0 ? [] : ["*"]),
      ...others.map(({ name, schema }) =>
        isFamily(name)
          ? `${familyOf(name)}: Mapping[str, str] | None = None`
          : `${pythonName(name)}: ${typeOf(schema, "Parameter")} | None = None`,
      ),
    ];
    const dictionary = (of: typeof given) =>
      `{${of.map(({ name }) => (isFamily(name) ? `**family(${quote(familyOf(name))}, ${familyOf(name)})` : `${quote(name)}: ${pythonName(name)}`)).join(", ")}}`;
    const passed = (argument: string, of: typeof given) =>
      of.length === 0 ? [] : [`            ${argument}=${dictionary(of)},\n`];
    return `
    def ${pythonName(id)}(
${signature.map((each) => `        ${each},\n`).join("")}    ) -> ${texts.length === 0 ? answer : `${answer} | str`}:
        """${summary}."""
        return self._call(
            ${quote(method)},
            ${quote(path)},
            repeat=${quote(repeat)},
            answer=${answer},
${[
  ...(texts.length === 0 ? [] : [`            texts=[${texts.map(quote).join(", ")}],\n`]),
  ...passed("parameters", inPath),
  ...passed(
    "query",
    others.filter((each) => each.in === "query"),
  ),
  ...passed(
    "headers",
    others.filter((each) => each.in === "header"),
  ),
  ...(body === undefined ? [] : ["            body=body,\n"]),
].join("")}        )
`;
  });
  const operations = `${NOTICE}
from __future__ import annotations

from typing import Any, Callable, Literal, Mapping

from . import models


def family(prefix: str, values: Mapping[str, str] | None) -> dict[str, str]:
    return {f"{prefix}.{name}": value for name, value in (values or {}).items()}


class Operations:
    """Every operation of the service."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
${methods.join("")}`;
  return { models: `${NOTICE}\n${types.module()}`, operations };
}
