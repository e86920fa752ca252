"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Choice, FieldGroup, SelectField, TextField } from "@/app/_ui/forms/form";
import type { FormProblems } from "@/app/_ui/forms/form-problems";
import { Link } from "@/app/_ui/link";
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

/** The fields of a trigger's form. `existing` fixes the slug and, if calls are signed, the scheme. */
export function TriggerFields({
  draft,
  existing,
  errorAt,
  onChange,
}: {
  draft: TriggerDraft;
  existing: { signed: boolean } | null;
  errorAt: FormProblems["at"];
  onChange: (part: Partial<TriggerDraft>) => void;
}) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          autoFocus
          error={errorAt("/name")}
          label="Name"
          maxLength={200}
          onChange={(name) =>
            onChange({
              name,
              ...(existing || draft.slug !== slugOf(draft.name) ? {} : { slug: slugOf(name) }),
            })
          }
          value={draft.name}
        />
        <TextField
          error={errorAt("/slug")}
          hint={existing ? "Its name in YAML." : "Its name in YAML. It cannot be changed later."}
          label="Slug"
          maxLength={64}
          onChange={(slug) => onChange({ slug })}
          readOnly={existing !== null}
          value={draft.slug}
        />
      </div>
      <TargetField draft={draft} error={errorAt("/agent") ?? errorAt("/tool")} onChange={onChange} />
      {draft.target.startsWith("agent/") ? (
        <TemplateField
          error={errorAt("/messageTemplate")}
          onChange={(template) => onChange({ template })}
          value={draft.template}
        />
      ) : null}
      {existing ? null : <SecretFields draft={draft} error={errorAt("/secret")} onChange={onChange} />}
      {existing?.signed || (!existing && draft.secret === "none") ? null : (
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
          error={errorAt("/rateLimit/requests")}
          hint="More calls get status 429."
          inputMode="numeric"
          label="Calls"
          onChange={(requests) => onChange({ requests })}
          value={draft.requests}
        />
        <TextField
          error={errorAt("/rateLimit/seconds")}
          inputMode="numeric"
          label="In seconds"
          onChange={(seconds) => onChange({ seconds })}
          value={draft.seconds}
        />
        <TextField
          error={errorAt("/maxCredits")}
          hint="Empty: no cap."
          inputMode="decimal"
          label="Credits per run"
          onChange={(maxCredits) => onChange({ maxCredits })}
          value={draft.maxCredits}
        />
      </div>
      <Choice checked={draft.enabled} onChange={(enabled) => onChange({ enabled })}>
        Enabled <span className="text-muted">(a disabled trigger refuses calls)</span>
      </Choice>
    </>
  );
}

type FieldProps = {
  draft: TriggerDraft;
  error: string | undefined;
  onChange: (part: Partial<TriggerDraft>) => void;
};

function TargetField({ draft, error, onChange }: FieldProps) {
  const trpc = useTRPC();
  const directory = useQuery(trpc.catalog.directory.queryOptions());
  const entries = (directory.data ?? []).filter(({ kind }) => kind !== "trigger");
  const unread = directory.isError
    ? "The agents and tools could not be read. Open the form again."
    : undefined;
  return (
    <SelectField
      error={error ?? unread}
      hint={
        directory.data && entries.length === 0 ? (
          <>
            There are none yet.{" "}
            <Link className="text-accent underline" href="/agents/new">
              Create an agent
            </Link>{" "}
            first.
          </>
        ) : draft.target.startsWith("tool/") ? (
          "The body of a call is the tool's input."
        ) : undefined
      }
      label="Starts"
      onChange={(target) => onChange({ target })}
      value={draft.target}
    >
      <option disabled value="">
        {directory.isPending ? "Loading" : "Choose an agent or a tool"}
      </option>
      {(["agent", "tool"] as const).map((kind) => (
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

const SECRETS = [
  ["generated", "Generate one; it is shown once"],
  ["own", "Use the sender's"],
  ["none", "None: anyone who knows the address can call it"],
] as const;

function SecretFields({ draft, error, onChange }: FieldProps) {
  return (
    <>
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
      {draft.secret === "own" ? (
        <TextField
          error={error}
          label="Secret"
          onChange={(ownSecret) => onChange({ ownSecret })}
          type="password"
          value={draft.ownSecret}
        />
      ) : null}
    </>
  );
}
