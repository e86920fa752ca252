import { z } from "zod";

/** Writes JSON Schemas as Python types. Objects with properties become dataclasses. */

type Schema = z.infer<typeof schema>;
const schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
});

export const schemaOf = (value: unknown): Schema => schema.parse(value ?? {});

const SIMPLE: Record<string, string> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
  object: "dict[str, Any]",
};
const KEYWORDS = ["from", "class", "global", "import", "in", "is", "not", "or", "and", "pass", "def"];

export const quote = (text: string) => JSON.stringify(text);

/** `agentRunId` and `Idempotency-Key` as Python writes names. */
export function pythonName(name: string): string {
  const snake = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
  return KEYWORDS.includes(snake) ? `${snake}_` : snake;
}

export class PythonTypes {
  readonly #aliases: string[] = [];
  readonly #classes = new Map<string, string>();

  declare(name: string, of: Schema): void {
    if (of.properties !== undefined) this.#declareClass(name, of);
    else this.#aliases.push(`${name} = ${this.use(of, name, "")}\n`);
  }

  /** The type of a schema. An object without a name gets `hint`; `prefix` stands before names of models. */
  use(of: Schema, hint: string, prefix: string): string {
    const { $ref, type, anyOf, oneOf, allOf, items, properties } = of;
    if ($ref !== undefined) return prefix + ($ref.split("/").at(-1) ?? "");
    if (of.const !== undefined) return `Literal[${literal(of.const)}]`;
    if (of.enum !== undefined) return `Literal[${of.enum.map(literal).join(", ")}]`;
    const parts = anyOf ?? oneOf ?? (allOf?.length === 1 ? allOf : undefined);
    if (parts !== undefined) return this.#union(parts.map((each) => this.use(schemaOf(each), hint, prefix)));
    if (Array.isArray(type)) {
      return this.#union(type.map((each) => this.use({ ...of, type: each }, hint, prefix)));
    }
    if (type === "array") return `list[${this.use(schemaOf(items), `${hint}Item`, prefix)}]`;
    if (properties !== undefined) {
      this.#declareClass(hint, of);
      return prefix + hint;
    }
    return SIMPLE[type ?? ""] ?? "Any";
  }

  module(): string {
    return `from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

${this.#aliases.join("")}${[...this.#classes.values()].join("")}`;
  }

  #union(types: string[]): string {
    return [...new Set(types)].join(" | ");
  }

  #declareClass(name: string, { properties = {}, required = [], description }: Schema): void {
    if (this.#classes.has(name)) throw new Error(`Two schemas become the class ${name}.`);
    this.#classes.set(name, "");
    const lines = Object.entries(properties).map(([each, of]) => {
      const field = pythonName(each);
      const type = this.use(schemaOf(of), `${name}${each[0]?.toUpperCase()}${each.slice(1)}`, "");
      const isRequired = required.includes(each);
      const facts = [
        ...(isRequired ? [] : ["default=None"]),
        ...(field === each ? [] : [`metadata={"name": ${quote(each)}}`]),
      ];
      const isOptional = isRequired || /\bNone\b|^Any$/.test(type);
      const value =
        facts.length === 0
          ? ""
          : facts[0] === "default=None" && facts.length === 1
            ? " = None"
            : ` = field(${facts.join(", ")})`;
      return `    ${field}: ${isOptional ? type : `${type} | None`}${value}\n`;
    });
    const docstring = description === undefined ? "" : `    """${description}."""\n\n`;
    this.#classes.set(
      name,
      `\n\n@dataclass(kw_only=True)\nclass ${name}:\n${docstring}${lines.join("") || "    pass\n"}`,
    );
  }
}

function literal(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return value === null ? "None" : JSON.stringify(value);
}
