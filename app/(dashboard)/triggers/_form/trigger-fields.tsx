"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Choice, FieldGroup, SelectField, TextField } from "@/app/_ui/forms/form";
import type { FormProblems } from "@/app/_ui/forms/form-problems";
import { Link } from "@/app/_ui/link";
import { RUN_KINDS } from "@/server/contract/enums";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";
import { slugOf } from "../../_editor/slug";
import { TemplateField } from "./template-field";
import type { TriggerDraft } from "./trigger-draft";

export const TRIGGER_LABELS = {
  "/name": "Name",
  "/slug": "Slug",
  "/agent": "Target",
  "/tool": "Target",
  "/messageTemplate": "Message template",
  "/secret": "Secret",
  "/rateLimit/requests": "Calls",
  "/rateLimit/seconds": "Seconds",
  "/maxCredits": "Credits per run",
};

type TriggerFieldsProps = {
  draft: TriggerDraft;
  errorAt: FormProblems["at"];
  /** The trigger that is edited; null for a new one. */
  existing: TriggerDetail | null;
  onChange: (part: Partial<TriggerDraft>) => void;
};

/** The fields of a trigger's form. An existing one keeps its slug and, if calls are signed, the scheme. */
export function TriggerFields({ draft, errorAt, existing, onChange }: TriggerFieldsProps) {
  const isSchemeFixed = existing === null ? draft.secret === "none" : existing.secrets.length > 0;
  /** The props of the control that edits one field as a text. */
  const bind = <Name extends keyof TriggerDraft>(name: Name, pointer = `/${name}`) => ({
    value: draft[name],
    error: errorAt(pointer),
    onChange: (text: TriggerDraft[Name]) => onChange({ [name]: text }),
  });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          {...bind("name")}
          autoFocus
          label="Name"
          maxLength={200}
          onChange={(name) =>
            // The slug of a new trigger follows its name until it is changed by hand.
            onChange(
              existing === null && draft.slug === slugOf(draft.name)
                ? { name, slug: slugOf(name) }
                : { name },
            )
          }
        />
        <TextField
          {...bind("slug")}
          hint={existing ? "Its name in YAML." : "Its name in YAML. It cannot be changed later."}
          label="Slug"
          maxLength={64}
          readOnly={existing !== null}
        />
      </div>
      <TargetField {...bind("target")} error={errorAt("/agent") ?? errorAt("/tool")} />
      {draft.target.startsWith("agent/") ? <TemplateField {...bind("template", "/messageTemplate")} /> : null}
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
      {draft.secret === "own" ? (
        <TextField {...bind("ownSecret", "/secret")} label="Secret" type="password" />
      ) : null}
      {isSchemeFixed ? null : (
        <SelectField
          hint={
            draft.signature === "hex"
              ? "The sender puts the HMAC-SHA256 of the body into X-Signature."
              : "The sender follows Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature."
          }
          label="Signature"
          onChange={(text) => onChange({ signature: text === "hex" ? "hex" : "standard-webhooks" })}
          value={draft.signature}
        >
          <option value="hex">HMAC-SHA256 in X-Signature</option>
          <option value="standard-webhooks">Standard Webhooks</option>
        </SelectField>
      )}
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <TextField
          {...bind("requests", "/rateLimit/requests")}
          hint="More calls get status 429."
          inputMode="numeric"
          label="Calls"
        />
        <TextField {...bind("seconds", "/rateLimit/seconds")} inputMode="numeric" label="In seconds" />
        <TextField
          {...bind("maxCredits")}
          hint="Empty: no cap."
          inputMode="decimal"
          label="Credits per run"
        />
      </div>
      <Choice checked={draft.enabled} onChange={(enabled) => onChange({ enabled })}>
        Enabled <span className="text-muted">(a disabled trigger refuses calls)</span>
      </Choice>
    </>
  );
}

const SECRETS = [
  ["generated", "Generate one; it is shown once"],
  ["own", "Use the sender's"],
  ["none", "None: anyone who knows the address can call it"],
] as const;

function TargetField(field: {
  value: string;
  error: string | undefined;
  onChange: (target: string) => void;
}) {
  const trpc = useTRPC();
  const directory = useQuery(trpc.catalog.directory.queryOptions());
  const entries = (directory.data ?? []).filter(({ kind }) => kind !== "trigger");
  const unread = directory.isError
    ? "The agents and tools could not be read. Open the form again."
    : undefined;
  return (
    <SelectField
      {...field}
      error={field.error ?? unread}
      hint={
        directory.data && entries.length === 0 ? (
          <>
            There are none yet.{" "}
            <Link className="text-accent underline" href="/agents/new">
              Create an agent
            </Link>{" "}
            first.
          </>
        ) : field.value.startsWith("tool/") ? (
          "The body of a call is the tool's input."
        ) : undefined
      }
      label="Starts"
    >
      <option disabled value="">
        {directory.isPending ? "Loading" : "Choose an agent or a tool"}
      </option>
      {RUN_KINDS.map((kind) => (
        <optgroup key={kind} label={kind === "agent" ? "Agents" : "Tools"}>
          {entries
            .filter((entry) => entry.kind === kind)
            .map(({ id, slug, name }) => (
              <option key={id} value={`${kind}/${slug}`}>
                {name}
              </option>
            ))}
        </optgroup>
      ))}
    </SelectField>
  );
}
