"use client";

import { useRouter } from "next/navigation";
import { useTRPC } from "@/app/_ui/data/providers";
import { TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { MAX_NAME_LENGTH } from "@/server/contract/limits";

export function Rename({ name }: { name: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const form = useForm(trpc.organization.rename.mutationOptions(), {
    draft: { name },
    labels: { "/name": "Name" },
    refresh: [trpc.organization.inspect],
    done: ({ saved }) => {
      // The layout shows the name, too.
      router.refresh();
      return saved === "unchanged" ? null : "The organization is renamed";
    },
  });
  return (
    <FormDialog
      {...form.dialog}
      act="Rename"
      acting="Renaming"
      onSubmit={() => form.send({ name: form.draft.name.trim() })}
      title="Rename the organization"
    >
      <TextField
        {...form.field("name")}
        autoFocus
        hint="The slug and the id stay, so nothing that refers to them changes."
        maxLength={MAX_NAME_LENGTH}
      />
    </FormDialog>
  );
}
