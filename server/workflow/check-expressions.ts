import { ExpressionError } from "@/server/expressions/expression-error";
import { listFunctions } from "@/server/functions/registry";
import type { Json } from "@/server/json/json";
import { parseCondition, parseTemplate, type TemplateExpression } from "@/server/workflow/expressions";

/** What the expressions of a definition can read. */
export type Readable = {
  /** The names of the parameters if no others are allowed, else null. */
  parameters: ReadonlySet<string> | null;
  /** The position of each step, or of the group that it belongs to, by its id. */
  positions: ReadonlyMap<string, number>;
  /** The names of the organization's secrets. */
  secrets: readonly string[];
};

/** Where a text of a definition is. */
export type TextLocation = {
  keys: (string | number)[];
  /** The position of its step, or of the group that the step belongs to. */
  index: number;
  /** The name of a forEach's item, if there is one. */
  item?: string | null;
  mayHoldSecret?: boolean;
};

/** The inputs of functions that may hold secrets. */
function describeSecretFields(): string {
  const inputs = listFunctions().flatMap(({ name, secretFields = [] }) =>
    secretFields.length === 0 ? [] : [`${secretFields.join(", ")} of ${name}`],
  );
  return inputs.join("; ");
}

/** Checks what the texts of a definition refer to. */
export class ExpressionChecker {
  readonly #readable: Readable;
  readonly #organizationId: string;
  readonly #report: (keys: TextLocation["keys"], message: string) => void;

  constructor(
    readable: Readable,
    organizationId: string,
    report: (keys: TextLocation["keys"], message: string) => void,
  ) {
    this.#readable = readable;
    this.#organizationId = organizationId;
    this.#report = report;
  }

  /** Checks an `if` or a `forEach`. */
  async checkCondition(text: string | undefined, location: TextLocation): Promise<void> {
    if (text === undefined) return;
    await this.#reportingFaults(location, async () => {
      this.#checkReferences(await parseCondition(text, this.#organizationId), location);
    });
  }

  /** Checks every text within a value. */
  async checkTexts(value: Json, location: TextLocation): Promise<void> {
    if (typeof value === "string") {
      if (!value.includes("{{")) return;
      await this.#reportingFaults(location, async () => {
        for (const part of (await parseTemplate(value, this.#organizationId)).parts) {
          if (typeof part === "object") this.#checkReferences(part, location);
        }
      });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value))
        await this.checkTexts(member, { ...location, keys: [...location.keys, key] });
    }
  }

  async #reportingFaults({ keys }: TextLocation, check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.#report(keys, error.message);
    }
  }

  #checkReferences(parsed: TemplateExpression, location: TextLocation): void {
    const { keys, item = null } = location;
    const { parameters } = this.#readable;
    if (parsed.fault !== null) this.#report(keys, parsed.fault);
    for (const { root, member } of parsed.references) {
      if (root === null || root === "run" || root === item) continue;
      if (root === "input") {
        if (member !== null && parameters !== null && !parameters.has(member)) {
          const known = [...parameters].join(", ") || "none";
          this.#report(keys, `input.${member} is not among the parameters; known parameters: ${known}`);
        }
      } else if (root === "secrets") {
        this.#checkSecret(parsed, location);
      } else if (root === "steps") {
        if (member !== null) this.#checkStep(member, location);
      } else {
        const names = ["input", "steps", "run", ...(item === null ? [] : [item])].join(", ");
        this.#report(keys, `"${root.slice(0, 100)}" is not known here; expressions can use ${names}`);
      }
    }
  }

  #checkStep(id: string, { keys, index }: TextLocation): void {
    const { positions } = this.#readable;
    const position = positions.get(id);
    if (position === undefined) {
      const known = [...positions].filter(([, at]) => at < index).map(([name]) => name);
      const names = known.join(", ") || "none";
      this.#report(keys, `there is no step "${id.slice(0, 100)}"; steps before this one: ${names}`);
    } else if (position === index) {
      this.#report(keys, `the step "${id}" cannot refer to itself or its group`);
    } else if (position > index) this.#report(keys, `the step "${id}" comes later`);
  }

  /** A secret stands alone in its braces, in a field of a call that may carry it. */
  #checkSecret(
    { secret, references }: TemplateExpression,
    { keys, mayHoldSecret = false }: TextLocation,
  ): void {
    const { secrets } = this.#readable;
    if (!mayHoldSecret) {
      this.#report(keys, `secrets cannot be used here; they can be used in ${describeSecretFields()}`);
    } else if (secret === null) {
      const name = references.find(({ root }) => root === "secrets")?.member ?? "NAME";
      this.#report(keys, `a secret must stand alone in its braces: {{ secrets.${name.slice(0, 100)} }}`);
    } else if (!secrets.includes(secret)) {
      const known = secrets.length === 0 ? "there are none yet" : `known secrets: ${secrets.join(", ")}`;
      this.#report(keys, `there is no secret "${secret}"; ${known}`);
    }
  }
}
