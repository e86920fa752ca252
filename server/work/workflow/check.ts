import type { Issue } from "@/server/base/errors";
import { isContainer, isJsonObject, type Json, type JsonObject, writeJson } from "@/server/base/json/json";
import { isDeeper, jsonPointer, MAX_JSON_DEPTH } from "@/server/base/json/text";
import { nearestName } from "@/server/base/nearest-name";
import { formatLimit } from "@/server/contract/sizes";
import { ExpressionError } from "@/server/work/expressions/jsonata";
import type { FunctionDefinition } from "@/server/work/functions/core/define";
import { findFunction, inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import { checkSchema, validateAgainst } from "@/server/work/json-schema/schema";
import {
  describeHostIssue,
  findReferenceIssues,
  type Meant,
  type Readable,
} from "@/server/work/workflow/check-expressions";
import { findParseIssues } from "@/server/work/workflow/check-parsed-field";
import { WORKFLOW_LIMITS } from "@/server/work/workflow/definition";
import { parseCondition, parseTemplate, type TemplateExpression } from "@/server/work/workflow/expressions";
import {
  type LenientCall,
  type LenientDefinition,
  type LenientStep,
  readLeniently,
} from "@/server/work/workflow/lenient-definition";
import { type Repair, renameTo, replaceBy, type WorkflowIssue } from "@/server/work/workflow/repair";
import { findNames, replaceNames } from "@/server/work/workflow/step-names";

/** The names to which a definition may refer beside functions. */
export type KnownNames = {
  secrets: readonly string[];
  findUnknown(kind: Called, slugs: readonly string[]): Promise<ReadonlyMap<string, UnknownName>>;
};
/** The issue of a name that nothing has; `meant`: the known name that it misspells. */
export type UnknownName = { message: string; meant?: string | undefined };
type Called = "tool" | "agent";

const { definitionBytes: MAX_DEFINITION_BYTES, problems: MAX_ISSUES, steps: MAX_STEPS } = WORKFLOW_LIMITS;
const RESERVED = new Set(["input", "steps", "run", "secrets", "__proto__"]);

const KEY_ISSUE =
  "has {{ in its key: keys are not filled in. Write the object as an expression, such as {{ {input.name: input.value} }}";

type Keys = (string | number)[];

/**
 * Every issue of a tool's definition besides those of its schema, with a JSON pointer and the known names
 * (docs/definition-files.md, "Tool"). Expressions are parsed in fair turns by organization.
 */
export async function findWorkflowIssues(
  value: Json,
  known: KnownNames,
  organizationId: string,
): Promise<WorkflowIssue[]> {
  const text = writeJson(value);
  if (isDeeper(text, MAX_JSON_DEPTH))
    return [{ path: "", message: `is nested deeper than ${MAX_JSON_DEPTH} levels` }];
  if (Buffer.byteLength(text) > MAX_DEFINITION_BYTES)
    return [{ path: "", message: `is larger than ${formatLimit(MAX_DEFINITION_BYTES)}` }];
  const checker = new Checker(readLeniently(value), known, organizationId);
  await checker.check();
  return checker.issues.slice(0, MAX_ISSUES);
}

function hasTemplate(value: Json): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasTemplate);
}

/** Null if other parameters are allowed. */
function closedParameters(parameters: JsonObject): Set<string> | null {
  const open = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"];
  if (parameters.additionalProperties !== false || open.some((keyword) => keyword in parameters)) return null;
  return new Set(isJsonObject(parameters.properties) ? Object.keys(parameters.properties) : []);
}

function calledBy(definition: FunctionDefinition | undefined): Called | null {
  const run = definition?.run;
  return typeof run === "object" && run.engine !== "wait" ? run.engine : null;
}

type ReadingContext = { keys: Keys; isAddress?: boolean } & Pick<Readable, "index"> & Partial<Readable>;

type CheckedText = {
  text: string;
  isCondition: boolean;
  parse: () => Promise<(string | TemplateExpression)[]>;
};

class Checker {
  readonly issues: WorkflowIssue[] = [];
  readonly #definition: LenientDefinition;
  readonly #known: KnownNames;
  readonly #organizationId: string;
  readonly #parameters: Readable["parameters"];
  readonly #positions = new Map<string, number>();
  readonly #unknown: Record<Called, ReadonlyMap<string, UnknownName>> = { tool: new Map(), agent: new Map() };

  constructor(definition: LenientDefinition, known: KnownNames, organizationId: string) {
    this.#definition = definition;
    this.#known = known;
    this.#organizationId = organizationId;
    this.#parameters = definition.parameters && closedParameters(definition.parameters);
  }

  async check(): Promise<void> {
    const { parameters, steps, output, outputSchema } = this.#definition;
    if (parameters !== null) await this.#checkSchema(parameters, ["parameters"]);
    if (parameters?.type !== undefined && parameters.type !== "object")
      this.#report(["parameters", "type"], 'must be "object": a tool takes named parameters');
    for (const [index, step] of steps.entries()) {
      this.#addStep(step.id, index, ["steps", index, "id"]);
      for (const [inner, { id }] of (step.parallel ?? []).entries())
        this.#addStep(id, index, ["steps", index, "parallel", inner, "id"]);
    }
    const count = steps.reduce((sum, { parallel }) => sum + (parallel?.length ?? 1), 0);
    if (count > MAX_STEPS)
      this.#report(["steps"], `has ${count} steps with those in groups; at most ${MAX_STEPS} are allowed`);
    await this.#findUnknown(steps.flatMap((step) => step.parallel ?? [step]));
    for (const [index, step] of steps.entries()) await this.#checkStep(step, index);
    if (output !== undefined) await this.#checkTexts(output, { keys: ["output"], index: steps.length });
    if (outputSchema !== undefined) await this.#checkSchema(outputSchema, ["outputSchema"]);
  }

  #report(keys: Keys, message: string, repair?: Repair): void {
    this.issues.push({ path: jsonPointer(keys), message, repair });
  }

  #reportInside(keys: Keys, issues: readonly Issue[]): void {
    for (const { path, message } of issues) this.issues.push({ path: jsonPointer(keys) + path, message });
  }

  async #checkSchema(schema: JsonObject, keys: Keys): Promise<void> {
    this.#reportInside(keys, await checkSchema(schema, this.#organizationId));
  }

  async #checkCondition(text: string | undefined, context: ReadingContext): Promise<void> {
    if (text === undefined) return;
    const parse = async () => [await parseCondition(text, this.#organizationId)];
    await this.#checkExpressions({ text, isCondition: true, parse }, context);
  }

  async #checkTexts(value: Json, context: ReadingContext): Promise<void> {
    if (typeof value === "string") {
      if (!value.includes("{{")) return;
      const parse = async () => (await parseTemplate(value, this.#organizationId)).parts;
      await this.#checkExpressions({ text: value, isCondition: false, parse }, context);
    } else if (isContainer(value)) {
      for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
        const keys = [...context.keys, key];
        if (typeof key === "string" && key.includes("{{")) this.#report(keys, KEY_ISSUE);
        await this.#checkTexts(member, { ...context, keys });
      }
    }
  }

  async #checkExpressions(
    { text, isCondition, parse }: CheckedText,
    { keys, isAddress = false, ...context }: ReadingContext,
  ): Promise<void> {
    const readable: Readable = {
      parameters: this.#parameters,
      positions: this.#positions,
      secrets: this.#known.secrets,
      item: null,
      mayHoldSecret: false,
      ...context,
    };
    try {
      const parts = await parse();
      const hostIssue = isAddress ? describeHostIssue(parts) : null;
      if (hostIssue !== null) this.#report(keys, hostIssue);
      for (const part of parts) {
        if (typeof part === "string") continue;
        for (const { message, findMeant } of findReferenceIssues(part, readable)) {
          // Further issues are not shown: a repair for each of thousands would take seconds.
          const meant = this.issues.length < MAX_ISSUES ? findMeant() : undefined;
          this.#report(keys, message, await this.#findRepair({ text, isCondition }, meant));
        }
      }
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.#report(keys, error.message);
    }
  }

  async #findRepair(
    { text, isCondition }: Omit<CheckedText, "parse">,
    meant: Meant | undefined,
  ): Promise<Repair | undefined> {
    if (meant === undefined) return;
    const { root, from: name, to } = meant;
    const names = await findNames(text, { root, name, isCondition, organizationId: this.#organizationId });
    if (names.length === 0) return;
    return { ...replaceBy(text, replaceNames(text, names, to)), label: `Use ${to}` };
  }

  #addStep(id: string | null, index: number, keys: Keys): void {
    if (id === null) return;
    if (this.#positions.has(id)) this.#report(keys, `"${id}" is already the id of an earlier step`);
    else if (RESERVED.has(id)) this.#report(keys, `"${id}" cannot be a step's id`);
    else this.#positions.set(id, index);
  }

  async #findUnknown(steps: readonly LenientCall[]): Promise<void> {
    for (const kind of ["tool", "agent"] as const) {
      const slugs = steps.flatMap(({ uses, with: input }) => {
        const slug = calledBy(findFunction(uses ?? "")) === kind ? input?.[kind] : undefined;
        return typeof slug === "string" && !hasTemplate(slug) ? [slug] : [];
      });
      if (slugs.length > 0) this.#unknown[kind] = await this.#known.findUnknown(kind, [...new Set(slugs)]);
    }
  }

  async #checkStep(step: LenientStep, index: number): Promise<void> {
    const keys: Keys = ["steps", index];
    const { parallel } = step;
    if (parallel === undefined) return this.#checkCall(step, { keys, index });
    await this.#checkCondition(step.if, { keys: [...keys, "if"], index });
    for (const [inner, call] of parallel.entries())
      await this.#checkCall(call, { keys: [...keys, "parallel", inner], index });
    const atOnce = parallel.reduce((sum, { concurrency = 1 }) => sum + concurrency, 0);
    const { concurrency: most } = WORKFLOW_LIMITS;
    if (atOnce > most)
      this.#report(
        [...keys, "parallel"],
        `would have up to ${atOnce} calls at once; at most ${most} are allowed`,
      );
  }

  async #checkCall(step: LenientCall, { keys, index }: { keys: Keys; index: number }): Promise<void> {
    for (const key of ["if", "forEach"] as const)
      await this.#checkCondition(step[key], { keys: [...keys, key], index });
    for (const key of ["as", "concurrency"] as const) {
      if (step[key] !== undefined && step.forEach === undefined)
        this.#report([...keys, key], "is only allowed with forEach");
    }
    if (step.as !== undefined && RESERVED.has(step.as)) {
      this.#report([...keys, "as"], `"${step.as}" is taken; choose another name`);
    }
    const item = step.forEach === undefined ? null : (step.as ?? "item");
    const { uses, with: input } = step;
    const definition = findFunction(uses ?? "");
    for (const [field, value] of Object.entries(input ?? {})) {
      const mayHoldSecret = definition?.secretFields?.includes(field) ?? false;
      const isAddress = definition?.addressFields?.includes(field) ?? false;
      const location = { keys: [...keys, "with", field], index, item, mayHoldSecret, isAddress };
      await this.#checkTexts(value, location);
    }
    if (definition !== undefined) {
      if (input !== null) await this.#checkInput(definition, input, [...keys, "with"]);
    } else if (uses !== null) {
      const known = listFunctions().map(({ name }) => name);
      const issue = `there is no function named "${uses.slice(0, 100)}"`;
      const meant = nearestName(uses, known);
      this.#report(
        [...keys, "uses"],
        `${issue}; known functions: ${known.join(", ")}`,
        meant === undefined ? undefined : replaceBy(uses, meant),
      );
    }
  }

  /** Reports what the function would reject, as far as it is known without running. */
  async #checkInput(definition: FunctionDefinition, input: JsonObject, keys: Keys): Promise<void> {
    const { name: uses, parsedFields = {}, findIssues } = definition;
    const schema = inputSchemaOf(definition);
    const properties = new Map(Object.entries(isJsonObject(schema.properties) ? schema.properties : {}));
    for (const [name, value] of Object.entries(input)) {
      const property = properties.get(name);
      const at = [...keys, name];
      if (property === undefined) {
        const known = [...properties.keys()].join(", ") || "none";
        const isShown = this.issues.length < MAX_ISSUES;
        const free = isShown ? [...properties.keys()].filter((each) => !Object.hasOwn(input, each)) : [];
        const meant = nearestName(name, free);
        this.#report(
          at,
          `${uses} doesn't take "${name.slice(0, 100)}"; known inputs: ${known}`,
          meant === undefined ? { label: "Remove", change: "remove" } : renameTo(meant),
        );
      } else if (isJsonObject(property) && !hasTemplate(value)) {
        const issues = await validateAgainst(property, value, this.#organizationId);
        this.#reportInside(at, issues);
        if (issues.length > 0) continue;
        const field = parsedFields[name];
        if (field !== undefined)
          this.#reportInside(at, await findParseIssues(field, value, this.#organizationId));
        const called = calledBy(definition);
        const slug = called === name ? String(value) : "";
        const unknown = called === name ? this.#unknown[called].get(slug) : undefined;
        if (unknown === undefined) continue;
        const { message, meant } = unknown;
        this.#report(at, message, meant === undefined ? undefined : replaceBy(slug, meant));
      }
    }
    this.#reportInside(keys, findIssues?.(input) ?? []);
    for (const name of Array.isArray(schema.required) ? schema.required : []) {
      if (typeof name === "string" && !Object.hasOwn(input, name)) {
        this.#report([...keys, name], `is required by ${uses}`);
      }
    }
  }
}
