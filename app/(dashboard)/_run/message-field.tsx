import { type KeyboardEventHandler, type Ref, useId } from "react";
import { RecentInputs } from "./recent-inputs";

type MessageFieldProps = {
  /** Null: not created yet. */
  agentId: string | null;
  problemId: string;
  placeholder: string;
  value: string;
  onChange: (message: string) => void;
  onKeyDown?: KeyboardEventHandler;
  ref: Ref<HTMLTextAreaElement>;
};

/** The message to an agent, with a menu of recent ones. */
export function MessageField({ agentId, problemId, onChange, ...field }: MessageFieldProps) {
  const id = useId();
  return (
    <>
      <div className="flex min-h-7 items-center justify-between gap-2">
        <label className="font-medium" htmlFor={id}>
          Message
        </label>
        {agentId === null ? null : <RecentInputs of={{ kind: "agent", id: agentId }} onPick={onChange} />}
      </div>
      <textarea
        aria-describedby={problemId}
        className="min-h-24 w-full resize-y rounded-md border border-input-line bg-canvas p-2.5"
        id={id}
        onChange={(event) => onChange(event.target.value)}
        required
        {...field}
      />
    </>
  );
}
