import { type Count, Counter, type Histogram, HistogramFamily } from "./families";

// Reasoning models answer after minutes. In seconds.
const CALL_SECONDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300];
/** Of the label `model`, in one process. */
const MAX_LABELS = 100;
const OTHER = "other";
/** The models of organizations' own providers together. */
const OWN = "own";

export type FiguresOfModel = {
  completed: Count;
  failed: Count;
  retries: Count;
  inputTokens: Count;
  cachedInputTokens: Count;
  outputTokens: Count;
  credits: Count;
  seconds: Histogram;
};

/**
 * The figures of model calls. Organizations choose the names of models, so only known names become a label; all others
 * are `other`.
 */
export class ModelFigures {
  readonly calls = new Counter({
    name: "stepwell_model_calls_total",
    help: "Model calls by outcome; one that falls back counts once, at the last model.",
    labels: ["model", "outcome"],
  });
  readonly retries = new Counter({
    name: "stepwell_model_retries_total",
    help: "Attempts of model calls that were followed by another one.",
    labels: ["model"],
  });
  readonly tokens = new Counter({
    name: "stepwell_model_tokens_total",
    help: "Tokens of model calls. `cached_input` is a part of `input`.",
    labels: ["model", "kind"],
  });
  readonly credits = new Counter({
    name: "stepwell_model_credits_total",
    help: "Credits charged for model calls.",
    labels: ["model"],
  });
  readonly seconds = new HistogramFamily(
    {
      name: "stepwell_model_call_duration_seconds",
      help: "Duration of model calls with their retries and fallbacks.",
      labels: ["model"],
    },
    CALL_SECONDS,
  );
  readonly errors = new Counter({
    name: "stepwell_provider_errors_total",
    help: "Model calls that a provider did not answer, by kind and whose provider it is.",
    labels: ["kind", "provider"],
  });
  readonly #known: Set<string>;
  readonly #ofModel = new Map<string, FiguresOfModel>();

  constructor(known: Iterable<string>) {
    this.#known = new Set(known);
  }

  /** These names are no tenant's, too. */
  know(names: Iterable<string>): void {
    for (const name of names) this.#known.add(name);
  }

  /** `isOwn`: an organization's own provider answers. */
  of(model: string, { isOwn }: { isOwn: boolean }): FiguresOfModel {
    if (isOwn) return this.#labeled(OWN);
    const found = this.#ofModel.get(model);
    if (found !== undefined) return found;
    const isLabel = this.#known.has(model) && this.#ofModel.size < MAX_LABELS;
    return this.#labeled(isLabel ? model : OTHER);
  }

  #labeled(label: string): FiguresOfModel {
    const found = this.#ofModel.get(label);
    if (found !== undefined) return found;
    const figures: FiguresOfModel = {
      completed: this.calls.of(label, "completed"),
      failed: this.calls.of(label, "failed"),
      retries: this.retries.of(label),
      inputTokens: this.tokens.of(label, "input"),
      cachedInputTokens: this.tokens.of(label, "cached_input"),
      outputTokens: this.tokens.of(label, "output"),
      credits: this.credits.of(label),
      seconds: this.seconds.of(label),
    };
    this.#ofModel.set(label, figures);
    return figures;
  }
}
