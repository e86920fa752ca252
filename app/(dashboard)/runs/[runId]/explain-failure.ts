import { formatDuration } from "@/app/_ui/format";
import { FAILURE_CODES, type FailureCode } from "@/server/runs/failure-codes";

/** What of a failed run its explanation depends on. */
export type FailedRun = {
  errorCode: string | null;
  kind: "agent" | "tool";
  agentId: string | null;
  toolId: string | null;
  triggerId: string | null;
  apiKeyId: string | null;
  parentRunId: string | null;
  model: string | null;
  deadlineSeconds: number;
};

/** What happened in one sentence, what to try, and the pages where one does it. */
export type Explanation = { sentence: string; advice: string; links: { href: string; label: string }[] };

type Explain = (run: FailedRun, failedStep: string | null) => Explanation;

const EXPLANATIONS: Record<FailureCode, Explain> = {
  insufficient_credits: () => ({
    sentence: "The organization's credits ran out in the middle of the run.",
    advice: "What was done is kept and was charged. Run it again once there are credits.",
    links: [{ href: "/credits", label: "Credits" }],
  }),
  max_credits: (run) => ({
    sentence: "The run reached its cap of credits.",
    advice: "Raise maxCredits where the message says it is set, or give the run less to do.",
    links: [
      targetLink(run),
      ...(run.triggerId ? [{ href: `/triggers/${run.triggerId}`, label: "Open the trigger" }] : []),
      ...(run.apiKeyId ? [{ href: "/keys", label: "API keys" }] : []),
    ],
  }),
  deadline_exceeded: (run) => ({
    sentence: `The run took longer than its deadline of ${formatDuration(run.deadlineSeconds * 1_000)}.`,
    advice: `The timeline shows what took the time. Raise deadlineSeconds of the ${run.kind}, or give it less to do.`,
    links: [targetLink(run)],
  }),
  not_admitted: () => ({
    sentence: "The run waited 24 hours for a free place and was given up.",
    advice:
      "Other runs held every place of the plan, or nothing executed runs. Cancel those that hang, then run it again.",
    links: [{ href: "/runs?status=Running", label: "Running runs" }],
  }),
  repeated_failure: (run) => ({
    sentence: "The model made the very same failing call three times.",
    advice: "Tell it in the system prompt how to make this call, or mend what it calls.",
    links: [targetLink(run)],
  }),
  step_failed: (run, failedStep) => ({ ...explainStep(failedStep), links: [targetLink(run)] }),
  output_failed: (run) => ({
    sentence: "The tool's output could not be made from what its steps gave.",
    advice: "Compare its output expression with the outputs of the steps below.",
    links: [targetLink(run)],
  }),
  output_invalid: (run) => ({
    sentence: "The tool's output does not fit the tool's own output schema.",
    advice: "Correct the output or the schema in its definition.",
    links: [targetLink(run)],
  }),
  output_too_large: (run) => ({
    sentence: "The output is larger than 4 MiB, the most a run may give.",
    advice: "Let it give less: a part, a summary, or the address where the whole lies.",
    links: [targetLink(run)],
  }),
  model_unauthorized: () => ({
    sentence: "The model provider refused the key that this installation sends.",
    advice: "The operator sets it, as OPENAI_API_KEY or in the providers' file. Then run it again.",
    links: [],
  }),
  model_unknown: (run) => ({
    sentence: `The model provider does not know the model ${run.model ?? "that was asked for"}.`,
    advice: "Correct the model's name, or have the operator add a provider that serves it.",
    links: [targetLink(run)],
  }),
  model_quota: () => ({
    sentence: "The account at the model provider has used up its own quota.",
    advice: "The operator raises it there. Then run it again.",
    links: [],
  }),
  model_input_too_long: (run) => ({
    sentence: "The conversation grew longer than the model can read.",
    advice: "Give it less input, let its tools give less, or choose a model that reads more.",
    links: [targetLink(run)],
  }),
  model_refused: (run) => ({
    sentence: "The model provider refused the request.",
    advice: "Its words say why: often a setting that this model does not take, or content it declines.",
    links: [targetLink(run)],
  }),
  model_unavailable: () => ({
    sentence: "The model provider could not be reached, or was too busy, at every try.",
    advice: "This passes by itself, as a rule: run it again. The tries stand under Attempts.",
    links: [],
  }),
  caller_ended: (run) => ({
    sentence: "The run that called this one ended before it had finished.",
    advice: "Why that one ended stands on its own page.",
    links: run.parentRunId
      ? [{ href: `/runs/${run.parentRunId}`, label: "Open the run that called it" }]
      : [],
  }),
  internal_error: () => ({
    sentence: "Something failed on our side. The run was not charged.",
    advice: "Run it again. The cause is in the service's log, under the run's id.",
    links: [],
  }),
};

/**
 * Explains why a run failed by its code and, where a step was the cause, by the function of that step; `failedStep` is
 * null when no step of the run stands as failed.
 */
export function explainFailure(run: FailedRun, failedStep: string | null): Explanation {
  const code = FAILURE_CODES.find((each) => each === run.errorCode);
  if (code) return EXPLANATIONS[code](run, failedStep);
  return {
    sentence: "The run failed.",
    advice: "Look at what its steps were given and gave.",
    links: [targetLink(run)],
  };
}

type StepExplanation = Pick<Explanation, "sentence" | "advice">;

const STEP_EXPLANATIONS: Record<string, StepExplanation> = {
  http_request: {
    sentence: "A call to another service got no answer.",
    advice:
      "Check the address. One that is not public must be opened by the operator (EGRESS_ALLOW); retries of the step bridge short outages.",
  },
  calculate: {
    sentence: "A calculation failed.",
    advice: "The step's input shows what was to be calculated.",
  },
  transform_json: {
    sentence: "An expression failed on the value it was given.",
    advice: "The step's input shows both. Correct the expression in the tool's definition.",
  },
  generate_text: {
    sentence: "The tool's own call of a model failed.",
    advice: "The model call below the step says how. Run it again if it lay with the provider.",
  },
  current_time: {
    sentence: "The time could not be told.",
    advice: "The step's input shows the time zone that was asked for.",
  },
};

function explainStep(name: string | null): StepExplanation {
  if (name === null) {
    return {
      sentence: "A step of the tool failed before or after its function ran.",
      advice:
        "Its condition, list or input did not come out on this input, or it gave too much. The message says which.",
    };
  }
  return (
    STEP_EXPLANATIONS[name] ?? {
      sentence: `The step ${name} failed.`,
      advice: "Look at what it was given, and correct the tool's definition.",
    }
  );
}

function targetLink({ kind, agentId, toolId }: FailedRun): Explanation["links"][number] {
  return { href: `/${kind}s/${agentId ?? toolId}`, label: `Open the ${kind}` };
}
