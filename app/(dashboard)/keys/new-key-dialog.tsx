"use client";

import { Button } from "@/app/_ui/button";
import { curlOf } from "@/app/_ui/curl";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { CopyTextButton, OneTimeValue } from "@/app/_ui/forms/one-time-value";
import { Command } from "@/app/_ui/page/page";
import type { DirectoryEntry } from "@/server/catalog/overview";

/** Shows a new key once, with a call that works as pasted. */
export function NewKeyDialog({
  name,
  keyText,
  mayStart,
  targets,
  onClose,
}: {
  name: string;
  keyText: string;
  mayStart: boolean;
  /** What the key may start. */
  targets: readonly DirectoryEntry[];
  onClose: () => void;
}) {
  const target = mayStart ? (targets.find(({ kind }) => kind === "agent") ?? targets[0]) : undefined;
  const line = target && `API_KEY=${keyText}\n${callOf(target)}`;
  return (
    <Dialog onClose={onClose} sticky title={`Key ${name} created`} wide>
      <OneTimeValue
        label="Key"
        value={keyText}
        warning="Copy it now. Only its hash is stored, so it is not shown again."
      />
      {line ? (
        <section aria-label="Try it" className="flex flex-col gap-1.5">
          <div className="flex items-center justify-between gap-2">
            <h3 className="min-w-0 font-medium">Start a run of {target.name}</h3>
            <CopyTextButton label="Copy curl" text={line} />
          </div>
          <Command>{line}</Command>
        </section>
      ) : null}
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function callOf({ kind, id }: DirectoryEntry): string {
  const url = `${window.location.origin}/v1/${kind}s/run/${id}`;
  return curlOf({ url, body: kind === "agent" ? '{"userMessage":"Hello"}' : "{}" });
}
