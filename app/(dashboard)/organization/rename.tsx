"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { useNotify } from "@/app/_ui/toast";

/** Renames the organization. */
export function Rename({ name, onClose }: { name: string; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  const [text, setText] = useState(name);
  const save = useMutation(
    trpc.organization.rename.mutationOptions({
      meta: { refresh: [trpc.organization.inspect.pathKey()] },
      onSuccess: ({ saved }) => {
        // The layout shows the name, too.
        router.refresh();
        if (saved !== "unchanged") notify("The organization is renamed");
        onClose();
      },
    }),
  );
  const problems = readProblems(save.error, { "/name": "Name" });
  return (
    <FormDialog
      act="Rename"
      acting="Renaming"
      mutation={save}
      onClose={onClose}
      onSubmit={() => save.mutate({ name: text.trim() })}
      problem={problems.rest}
      title="Rename the organization"
    >
      <TextField
        autoFocus
        error={problems.at("/name")}
        hint="The slug and the id stay, so nothing that refers to them changes."
        label="Name"
        maxLength={200}
        onChange={setText}
        value={text}
      />
    </FormDialog>
  );
}
