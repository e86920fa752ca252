import { formatDuration } from "@/app/_ui/figures/format";
import { MAX_PENDING_HOURS } from "@/server/contract/limits";
import { formatLimit, MAX_FINAL_OUTPUT_BYTES } from "@/server/contract/sizes";
import { FAILURE_CODES, type FailureCode } from "@/server/runs/failure-codes";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { targetPath } from "../../query";

export type FailedRun = Pick<
  RunDetail,
  | "errorCode"
  | "errorMessage"
  | "kind"
  | "agentId"
  | "toolId"
  | "triggerId"
  | "apiKeyId"
  | "parentRunId"
  | "model"
  | "deadlineSeconds"
  | "currentVersion"
>;

type Link = { href: string; label: string };

/** `links`: by default to the agent or tool, if it is not deleted. */
type Explanation = { sentence: string; advice: string; links?: Link[] };

function explanationsOf(run: FailedRun, failedStep: string | null): Record<FailureCode, Explanation> {
  return {
    insufficient_credits: {
      sentence: "The organization's credits ran out during the run.",
      advice: "Finished steps stay and were charged. Run it again when there are credits.",
      links: [{ href: "/credits", label: "Credits" }],
    },
    max_credits: {
      sentence: "The run reached its credit cap.",
      advice: "Raise the maxCredits that the message names, or reduce the work of the run.",
      links: [
        ...targetLinks(run),
        ...(run.triggerId ? [{ href: `/triggers/${run.triggerId}`, label: "Open the trigger" }] : []),
        ...(run.apiKeyId ? [{ href: "/keys", label: "API keys" }] : []),
      ],
    },
    deadline_exceeded: {
      sentence: `The run took longer than its deadline of ${formatDuration(run.deadlineSeconds * 1_000)}.`,
      advice: `The timeline shows what took the time. Raise deadlineSeconds of the ${run.kind}${run.apiKeyId ? " or the start's X-Deadline-Seconds" : ""}, or reduce its work.`,
    },
    not_admitted: {
      sentence: `The run waited ${MAX_PENDING_HOURS} hours for a free slot and was ended.`,
      advice:
        "Other runs used all slots of the plan, or no process executed runs. Cancel runs that hang, then run it again.",
      links: [{ href: "/runs?status=Running", label: "Running runs" }],
    },
    repeated_failure: {
      sentence: "The model made the same failing call three times.",
      advice: "Explain in the system prompt how to make this call, or fix the function or tool.",
    },
    step_failed: explainStep(failedStep, run.errorMessage ?? ""),
    output_failed: {
      sentence: "The tool's output expression failed on the outputs of its steps.",
      advice: "Compare the expression with the outputs of the steps below.",
    },
    output_invalid:
      run.kind === "tool"
        ? {
            sentence: "The tool's output does not match its output schema.",
            advice: "Correct the output or the schema in its definition.",
          }
        : {
            sentence: "The model's answer does not match the agent's output schema.",
            advice: "Describe the answer in the system prompt, simplify the schema, or allow more steps.",
          },
    output_too_large: {
      sentence: `The output is larger than ${formatLimit(MAX_FINAL_OUTPUT_BYTES)}, the limit for a run.`,
      advice: "Return less: a part, a summary, or an address from which to fetch it.",
    },
    model_unauthorized: {
      sentence: "The model provider rejected this installation's API key.",
      advice:
        "The operator sets the key in OPENAI_API_KEY or in the file of MODEL_PROVIDERS. Then run it again.",
      links: [],
    },
    model_unknown: {
      sentence: `The model provider does not know the model ${run.model ?? "of this run"}.`,
      advice: "Correct the model's name, or ask the operator to add a provider that serves it.",
    },
    model_quota: {
      sentence: "The operator's account at the model provider has used up its quota.",
      advice: "The operator can raise it there. Then run it again.",
      links: [],
    },
    input_too_long: {
      sentence: "The conversation does not fit into the model's context window.",
      advice:
        "Shorten the prompt or the message, return less from tools, or choose a model with a larger window. Only outputs before the last two iterations are shortened.",
    },
    model_refused: {
      sentence: "The request to the model provider was rejected.",
      advice:
        "The message names the cause: often an unsupported setting, content that the provider declines, or an address that is not public.",
    },
    model_unavailable: {
      sentence: "The model provider was unreachable or too busy at every attempt.",
      advice: "This usually passes: run it again. The attempts are listed under Attempts.",
      links: [],
    },
    output_truncated: {
      sentence: "The model's answer was cut off at the limit of output tokens.",
      advice:
        "Ask for a shorter answer or less reasoning, or choose another model. The message says whether credits set the limit.",
    },
    refused: {
      sentence: "The model declined to answer, or its provider filtered the answer.",
      advice: "The message has the provider's words. Change the system prompt or the message.",
    },
    empty_answer: {
      sentence: "The model gave an empty answer twice.",
      advice: "Say in the system prompt what to answer, or choose another model.",
    },
    caller_ended: {
      sentence: "The run that started this one ended before this one finished.",
      advice: "Its page shows the cause.",
      links: run.parentRunId ? [{ href: `/runs/${run.parentRunId}`, label: "Open the parent run" }] : [],
    },
    internal_error: {
      sentence: "The service failed while it executed this run. The run was not charged.",
      advice: "Run it again. The cause is in the service's log, under the run's id.",
      links: [],
    },
  };
}

/** Explains a failure by its code and the function of the failed step; `failedStep` is null if no step failed. */
export function explainRunFailure(run: FailedRun, failedStep: string | null): Required<Explanation> {
  const code = FAILURE_CODES.find((each) => each === run.errorCode);
  const unknown = { sentence: "The run failed.", advice: "Look at the inputs and outputs of its steps." };
  return {
    links: targetLinks(run),
    ...(code ? explanationsOf(run, failedStep)[code] : unknown),
  };
}

const STEP_EXPLANATIONS: Record<string, Explanation> = {
  http_request: {
    sentence: "A call to another service failed.",
    advice:
      "Check the address, and whether the service behind it works. Retries of the step help with short outages.",
  },
  calculate: {
    sentence: "A calculation failed.",
    advice: "The step's input shows the expression.",
  },
  transform_json: {
    sentence: "An expression failed on its value.",
    advice: "The step's input shows both. Correct the expression in the tool's definition.",
  },
  generate_text: {
    sentence: "A model call of the tool failed.",
    advice: "The model call below the step shows the cause. If the provider caused it, run it again.",
  },
  current_time: {
    sentence: "The time zone is invalid.",
    advice: "The step's input shows the time zone.",
  },
  extract_text: {
    sentence: "Could not extract the text of a page.",
    advice: "The step's input shows the HTML. Check that it is complete and not too large.",
  },
  parse_csv: {
    sentence: "Could not parse a CSV text.",
    advice: "The step's input shows the text. Check its delimiter, its quotes and its size.",
  },
  run_javascript: {
    sentence: "The JavaScript code failed.",
    advice: "The step's input shows the code and its value. Correct the code in the tool's definition.",
  },
  run_agent: {
    sentence: "The run of an agent failed.",
    advice: "Open the child run: its page explains the failure.",
  },
  run_tool: {
    sentence: "The run of another tool failed.",
    advice: "Open the child run: its page explains the failure.",
  },
  send_email: {
    sentence: "Could not send an email.",
    advice:
      "Check the addresses. The operator must have configured a mail server. The mail server may have rejected the email.",
  },
  get_value: {
    sentence: "Could not read a stored value.",
    advice: "The step's input shows the key. Run it again.",
  },
  set_value: {
    sentence: "Could not store a value.",
    advice:
      "The message names the cause: the value is too large, its version has changed, or the store is full.",
  },
  wait: {
    sentence: "A wait failed.",
    advice: "The step's input shows the duration or the time. Correct it in the tool's definition.",
  },
};

const PRIVATE_ADDRESS: Explanation = {
  sentence: "A call to an address that is not public was rejected.",
  advice: "Check the address. Only the operator can allow private addresses (EGRESS_ALLOW).",
};

function explainStep(name: string | null, message: string): Explanation {
  if (name === null) {
    return {
      sentence: "A step of the tool failed before or after its function ran.",
      advice:
        "Its condition, list or input failed to evaluate, or its output is too large. The message names the cause.",
    };
  }
  if (name === "http_request" && message.includes("is not a public address")) return PRIVATE_ADDRESS;
  return (
    STEP_EXPLANATIONS[name] ?? {
      sentence: `The step ${name} failed.`,
      advice: "Look at its input, and correct the tool's definition.",
    }
  );
}

/** None if the agent or tool was deleted. */
function targetLinks(run: FailedRun): Link[] {
  return run.currentVersion === null ? [] : [{ href: targetPath(run), label: `Open the ${run.kind}` }];
}
