"use client";

import { Choice, FieldGroup, OptionField, TextField } from "@/app/_ui/forms/form";
import type { FormProblems } from "@/app/_ui/forms/form-problems";
import { Link } from "@/app/_ui/link";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { PRESETS } from "@/server/catalog/webhooks/senders/presets";
import { describeSignature, isPresetName } from "@/server/catalog/webhooks/senders/signature-definition";
import { MAX_NAME_LENGTH } from "@/server/contract/limits";
import { TargetField } from "../../_definitions/target-field";
import { rename } from "../../_editor/slug";
import { senderGuide } from "../sender-guide";
import { TemplateField } from "./template-field";
import type { TriggerDraft } from "./trigger-draft";

export const TRIGGER_LABELS = {
  "/name": "Name",
  "/slug": "Slug",
  "/agent": "Target",
  "/tool": "Target",
  "/messageTemplate": "Message template",
  "/filter": "Filter",
  "/secret": "Secret",
  "/rateLimit/requests": "Calls",
  "/rateLimit/seconds": "Seconds",
  "/maxCredits": "Credits per run",
};

type TriggerFieldsProps = {
  draft: TriggerDraft;
  errorAt: FormProblems["at"];
  existing: TriggerDetail | null;
  onChange: (part: Partial<TriggerDraft>) => void;
};

/** The fields of a trigger's form. An existing one keeps its slug and, if calls are signed, the scheme. */
export function TriggerFields({ draft, errorAt, existing, onChange }: TriggerFieldsProps) {
  const isSchemeFixed = existing === null ? draft.secret === "none" : existing.secrets.length > 0;
  const bind = <Name extends keyof TriggerDraft>(name: Name, pointer: keyof typeof TRIGGER_LABELS) => ({
    label: TRIGGER_LABELS[pointer],
    value: draft[name],
    error: errorAt(pointer),
    onChange: (text: TriggerDraft[Name]) => onChange({ [name]: text }),
  });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          {...bind("name", "/name")}
          autoFocus
          maxLength={MAX_NAME_LENGTH}
          onChange={(name) => onChange(existing === null ? rename(draft, name) : { name })}
        />
        <TextField
          {...bind("slug", "/slug")}
          hint={existing ? "Its name in YAML." : "Its name in YAML. It cannot be changed later."}
          maxLength={64}
          readOnly={existing !== null}
        />
      </div>
      <TargetField
        {...bind("target", "/agent")}
        error={errorAt("/agent") ?? errorAt("/tool")}
        toolHint="The body of a call is the tool's input."
      />
      {draft.target.startsWith("agent/") ? <TemplateField {...bind("template", "/messageTemplate")} /> : null}
      <TextField
        {...bind("filter", "/filter")}
        code
        hint='A JSONata expression, such as body.type = "charge.refunded". Empty: every call starts a run.'
      />
      {existing === null ? (
        <FieldGroup label="Signing secret">
          {SECRETS.map(([secret, label]) => (
            <Choice
              checked={draft.secret === secret}
              key={secret}
              name="secret"
              onChange={() => onChange({ secret })}
            >
              {label}
            </Choice>
          ))}
        </FieldGroup>
      ) : null}
      {draft.secret === "own" ? <TextField {...bind("ownSecret", "/secret")} type="password" /> : null}
      {isSchemeFixed ? null : (
        <OptionField
          hint={
            <>
              {describeSignature(draft.signature)}.{" "}
              <Link
                className="text-accent underline"
                href={senderGuide(draft.signature)}
                rel="noreferrer"
                target="_blank"
              >
                Where to click
              </Link>
            </>
          }
          label="Sender"
          onChange={(signature) => {
            if (!isPresetName(signature)) return;
            const isSendersOwn = PRESETS[signature].secretFrom === "sender";
            const secret = isSendersOwn && draft.secret === "generated" ? "own" : draft.secret;
            onChange({ signature, secret });
          }}
          options={typeof draft.signature === "string" ? SENDERS : [...SENDERS, CUSTOM]}
          value={typeof draft.signature === "string" ? draft.signature : CUSTOM.value}
        />
      )}
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <TextField
          {...bind("requests", "/rateLimit/requests")}
          hint="More calls get status 429."
          inputMode="numeric"
        />
        <TextField {...bind("seconds", "/rateLimit/seconds")} inputMode="numeric" label="In seconds" />
        <TextField {...bind("maxCredits", "/maxCredits")} hint="Empty: no cap." inputMode="decimal" />
      </div>
      <Choice checked={draft.enabled} onChange={(enabled) => onChange({ enabled })}>
        Enabled <span className="text-muted">(a disabled trigger rejects calls)</span>
      </Choice>
    </>
  );
}

const SENDERS = Object.entries(PRESETS).map(([value, { title }]) => ({ value, label: title }));
/** Its rule is edited in YAML. */
const CUSTOM = { value: "custom", label: "Custom" };

const SECRETS = [
  ["generated", "Generate one; it is shown once"],
  ["own", "Use the sender's"],
  ["none", "None: anyone who knows the address can call it"],
] as const;
